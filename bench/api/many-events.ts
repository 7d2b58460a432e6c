// A million events in the database of the server that is measured, and a program that goes on reporting new ones.

import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerUnderTest } from '../../test/server-under-test.ts'

export const eventCount = 1_000_000
/** At once: the server waits while we write. */
const chunk = 20_000
const spanMs = 365 * 86_400_000

/** Of the last year, spread evenly over all cameras. Written to the file, since to report them would take an hour. */
export async function addEvents(server: ServerUnderTest): Promise<void> {
  const database = new DatabaseSync(join(server.dataDir, 'nightjar.db'), { timeout: 5000 })
  const { cameras } = database.prepare('select count(*) as cameras from cameras').get() as { cameras: number }
  const startMs = Date.now() - spanMs
  const insert = database.prepare(`
    insert into events (camera_id, owner_id, title, category, source, occurred_at_ms, received_at_ms, data)
    with recursive numbers(i) as (select ? union all select i + 1 from numbers where i + 1 < ?)
    select camera.id, camera.owner_id, 'Motion at the door', 'motion', 'device', at_ms, at_ms + 150,
      case when i % 2 = 0 then '{"zone":"left","score":0.83}' end
    from (select i, ? + cast(i * ? as integer) as at_ms from numbers)
    join (select id, owner_id, row_number() over (order by id) - 1 as place from cameras) as camera on place = i % ?`)
  for (let from = 0; from < eventCount; from += chunk) {
    insert.run(from, Math.min(from + chunk, eventCount), startMs, spanMs / eventCount, cameras)
    await sleep(20)
  }
  database.exec(`
    begin immediate;
    insert into event_days (camera_id, day, owner_id, count)
      select camera_id, occurred_at_ms / 86400000, owner_id, count(*) from events group by 1, 2, 3
      on conflict do update set count = excluded.count;
    insert into event_totals (camera_id, owner_id, count)
      select camera_id, owner_id, sum(count) from event_days group by 1, 2
      on conflict do update set count = excluded.count;
    commit`)
  database.close()
}

/** Reports `perSecond` events of this camera over a connection that is kept, until it is disposed of. */
export function reportEvents(server: ServerUnderTest, cameraId: number, perSecond: number): Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const body = JSON.stringify({ camera: cameraId, title: 'Motion at the door', category: 'motion' })
  const headers = {
    authorization: `PersonalAccessToken ${server.token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const report = () => {
    const sent = request(new URL('/v1/events/', server.url), { method: 'POST', ca: server.ca, agent, headers })
    sent.on('response', (response) => {
      if (response.statusCode !== 201) throw new Error(`an event was answered with ${response.statusCode}`)
      response.resume()
    })
    sent.on('error', () => {}) // of the last one, when it is over
    sent.end(body)
  }
  const timer = setInterval(report, 1000 / perSecond)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      agent.destroy()
    },
  }
}
