// English. What is a function says something of a value.

export const english = {
  again: 'Try again',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  loading: 'Loading …',
  frame: {
    skip: 'To the content',
    navigation: 'Views',
    ways: { cameras: 'Cameras', events: 'Events', settings: 'Settings' },
    unreachable: 'The server cannot be reached. What you see may be old; it goes on by itself when the server is back.',
  },
  splash: {
    opening: 'Opening …',
    unreachable: 'The server cannot be reached',
    unreachableAdvice: 'Is it running, and is this device in its network?',
    refused: 'Signing in did not work',
    again: 'Try again',
  },
  failures: {
    unreachable: 'The server did not answer. Try again in a moment.',
    forbidden: 'You are not allowed to do this.',
    missing: 'This does not exist any more, or you may not see it.',
    busy: 'The server is too busy at the moment. Try again soon.',
    tooMany: (seconds: number | undefined) =>
      seconds === undefined ? 'Too many requests. Try again later.' : `Too many requests. Try again in ${seconds} s.`,
    unknown: 'Something went wrong here. Reload the page; if it happens again, look into the server’s log.',
  },
  account: {
    why: 'What is made here lasts, so your password is asked for first. It then counts for ten minutes.',
    open: 'Give the password',
  },
  cameras: {
    title: 'Cameras',
    add: 'Add a camera',
    own: 'Your cameras',
    shared: 'Shared with you',
    search: 'Search',
    noneTitle: 'No camera yet',
    none: 'Add the first one: all you need is its address in your network.',
    nothingFound: (text: string) => `No camera is called “${text}”.`,
    status: { online: 'Online', offline: 'Offline', unknown: 'Connecting' },
    of: (owner: string) => `of ${owner}`,
    recording: 'Recording',
  },
}
