// Loaded into the process of every test file before the file: a process that its tests leave running is a fault, not a reason to wait for ever.

import { isMainThread } from 'node:worker_threads'

const patienceMs = 20_000

// Worker threads load this file too. A test runner in them would handle errors that the program under test handles itself.
if (isMainThread) {
  const { after } = await import('node:test')
  after(() => {
    const onLate = () => {
      console.error(`${process.argv[1]}: the tests are over, but something keeps the process: ${describeResources()}`)
      process.exit(1)
    }
    // Keeps nobody alive itself, so it only comes when something else does.
    setTimeout(onLate, patienceMs).unref()
  })
}

function describeResources(): string {
  return [...new Set(process.getActiveResourcesInfo())].join(', ')
}
