// nightjar event …: events of cameras.

import { writeEvent } from '../api/answers/event.ts'
import { AppError } from '../base/error.ts'
import { defaultCategory, getOccurredAt, isCategory, maxTitleLength, writeEventData } from '../model/event.ts'
import { countCharacters } from '../model/text.ts'
import { writeTime } from '../model/time.ts'
import { getOpenTimeRange } from '../model/time-range.ts'
import type { EventScope } from '../store/cameras/event-counts.ts'
import type { CameraEvent } from '../store/cameras/events.ts'
import type { Store } from '../store/store.ts'
import { type Command, UsageError } from './command.ts'
import { getNamedUser, parseId } from './names.ts'
import { withStore } from './open-data.ts'
import { pageOptions, readPage } from './page-options.ts'
import { writeTable } from './table.ts'

const eventList: Command = {
  name: 'event list',
  summary: 'List the events of a camera, or of all cameras of a user, newest first.',
  positionals: [],
  options: {
    user: { placeholder: 'USER', description: 'Owner of the cameras: email address or id.' },
    camera: { placeholder: 'CAMERA_ID', description: 'Only events of this camera.' },
    start: { placeholder: 'TIME', description: 'Earliest time, for example 2026-05-01T12:00:00Z.' },
    end: { placeholder: 'TIME', description: 'End of the time range (exclusive).' },
    ...pageOptions,
  },
  run({ config, options }) {
    if ((options.user === undefined) === (options.camera === undefined)) {
      throw new UsageError('specify --user or --camera', eventList)
    }
    const page = readPage(options, eventList)
    const range = getOpenTimeRange(options)
    return withStore(config, async (store) => {
      const scope = await getScope(store, options)
      const events = await store.events.list(scope, range, page)
      const count = await store.events.count(scope, range)
      const rows = events.map((event) => [
        writeTime(event.occurredAtMs),
        String(event.cameraId),
        event.category,
        event.source,
        event.title ?? '',
        event.data ?? '',
      ])
      const table = writeTable(['TIME', 'CAMERA', 'CATEGORY', 'SOURCE', 'TITLE', 'DATA'], rows, 'There are no events.')
      const rest = events.length < count ? `\n${events.length} of ${count}.` : ''
      return { json: { count, events: events.map(writeEvent) }, text: `${table}${rest}` }
    })
  },
}

const eventAdd: Command = {
  name: 'event add',
  summary: 'Add an event to a camera.',
  positionals: ['CAMERA_ID'],
  options: {
    title: { placeholder: 'TEXT', description: `Title of the event, at most ${maxTitleLength} characters.` },
    category: {
      placeholder: 'NAME',
      description: `Category: at most 64 characters of a-z, 0-9 and _. Default: ${defaultCategory}.`,
    },
    'occurred-at': {
      placeholder: 'TIME',
      description: 'Time of the event, for example 2026-05-01T12:00:00Z. Default: now.',
    },
    details: { placeholder: 'JSON', description: 'Additional data as JSON, at most 4 KiB.' },
  },
  run: ({ config, options, positionals }) => {
    const { title = null, category = defaultCategory } = options
    if (title !== null && countCharacters(title) > maxTitleLength)
      throw new AppError('invalid', `--title: expected at most ${maxTitleLength} characters`)
    if (!isCategory(category))
      throw new AppError('invalid', `--category: expected 1 to 64 characters of a-z, 0-9 and _`)
    const occurredAtMs = getOccurredAt(options['occurred-at'], Date.now())
    const data = writeEventData(readJsonOption(options.details))
    return withStore(config, async (store) => {
      const cameraId = parseId('camera', positionals[0]!)
      const event = await store.events.insert({ cameraId, title, category, source: 'api', occurredAtMs, data })
      return { json: writeEvent(event), text: describe(event) }
    })
  },
}

export const eventCommands: readonly Command[] = [eventList, eventAdd]

async function getScope(store: Store, options: Readonly<Record<string, string | undefined>>): Promise<EventScope> {
  if (options.user !== undefined) return { ownerId: (await getNamedUser(store, options.user)).id }
  const { id } = await store.cameras.get(parseId('camera', options.camera!))
  return { cameraId: id }
}

function readJsonOption(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('invalid', '--details: expected JSON')
  }
}

function describe({ id, cameraId, category, occurredAtMs }: CameraEvent): string {
  return `Added event ${id}, ${category}, at camera ${cameraId}, ${writeTime(occurredAtMs)}.`
}
