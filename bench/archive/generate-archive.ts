// Fills an archive as a month of recording leaves it: a row and a file for every minute of every camera, in the order in which they would
// have come. The files of a camera are one file under many names (hard links): what they hold does not matter, where they lie does.
// Only what is going to be deleted are files of their own, since the last name of a file costs a disk much more than any other.

import { copyFileSync, linkSync, mkdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { segmentPath } from '../../server/archive/layout.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { writeFragmentTable } from '../../server/model/fragment-table.ts'
import type { Fragment } from '../../server/model/segment.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openStore } from '../../server/store/store.ts'
import type { ServerUnderTest } from '../../test/server-under-test.ts'
import { recordTemplate, type TemplateFile } from './template-file.ts'

export type Generated = {
  readonly rows: number
  readonly startMs: number
  readonly endMs: number
}

export type GenerateOptions = {
  readonly databaseFile: string
  readonly archiveDir: string
  readonly cameraIds: readonly number[]
  readonly days: number
  readonly endMs: number
  /** The oldest footage of so many cameras is in files of its own. */
  readonly doomed: { readonly cameras: number; readonly lengthMs: number }
  readonly say: (text: string) => void
  /** About 2 Mbit/s unless given; fewer pixels are fewer bits. */
  readonly picture?: { readonly width: number; readonly height: number }
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** Each camera is away once a day for so many minutes, at its own time; then a new run begins. */
const gapMinutes = 3

async function generateArchive(options: GenerateOptions): Promise<Generated> {
  const { databaseFile, archiveDir, cameraIds, days, say } = options
  const folder = join(archiveDir, 'templates')
  await mkdir(folder)
  const cameras: CameraFootage[] = []
  for (const cameraId of cameraIds) {
    cameras.push(createFootage(await recordTemplate(folder, cameraId, options.picture), cameraId))
  }
  const writeTable = createTableWriter(cameras[0]!.template.fragments)
  const endMs = Math.floor(options.endMs / minuteMs) * minuteMs
  const startMs = endMs - days * dayMs
  using database = openDatabase(databaseFile)
  const insert = prepareInsert(database, writeTable)
  const place = createPlacer()
  const { doomed } = options
  let rows = 0
  for (let dayStartMs = startMs; dayStartMs < endMs; dayStartMs += dayMs) {
    say(`Day ${Math.round((dayStartMs - startMs) / dayMs) + 1} of ${days} …`)
    database.exec('begin')
    for (let minute = 0; minute < 1440; minute++) {
      for (const [index, camera] of cameras.entries()) {
        const path = addMinute(camera, index, { startMs: dayStartMs + minute * minuteMs, minute }, insert)
        if (path === undefined) continue
        const isDoomed = index < doomed.cameras && dayStartMs === startMs && minute * minuteMs < doomed.lengthMs
        place(camera.template.path, join(archiveDir, path), { isCopy: isDoomed })
        rows++
      }
    }
    database.exec('commit')
  }
  database.exec(`insert into footage (camera_id, place_id, bytes, segments)
    select camera_id, place_id, sum(bytes), count(*) from segments where is_closed = 1 group by camera_id, place_id`)
  return { rows, startMs, endMs }
}

/**
 * Stops the server and gives it so many cameras with footage that ends an hour ago. The cameras are addresses nobody
 * answers at.
 */
export async function fillArchive(
  server: ServerUnderTest,
  { cameras, ...rest }: { readonly cameras: number } & Pick<GenerateOptions, 'days' | 'doomed' | 'say' | 'picture'>,
): Promise<{ readonly ids: readonly number[]; readonly generated: Generated }> {
  await server.stop()
  const { dataDir } = server
  const archiveDir = join(dataDir, 'archive')
  const ids: number[] = []
  {
    const credentialsKey = (await openSecretKey(dataDir)).deriveKey('camera credentials')
    await using store = await openStore({ database: databaseFile(dataDir), credentialsKey, foreignIntervalMs: 0 })
    const [owner] = await store.users.list()
    for (let i = 1; i <= cameras; i++) {
      const source = { url: 'rtsp://127.0.0.1:9/none', username: null, password: null }
      const { id } = await store.cameras.insert({ ownerId: owner!.id, name: `Camera ${i}`, type: 'h264', ...source })
      await store.recordings.enable(id, { retention: 'P60D', maxBytes: null })
      ids.push(id)
    }
  }
  const endMs = Date.now() - 3_600_000
  const place = { databaseFile: databaseFile(dataDir), archiveDir, cameraIds: ids }
  const generated = await generateArchive({ ...place, ...rest, endMs })
  return { ids, generated }
}

type CameraFootage = {
  readonly cameraId: number
  readonly template: TemplateFile
  runId: string
  runStartMs: number
  gapReason: string | null
}

function createFootage(template: TemplateFile, cameraId: number): CameraFootage {
  return { cameraId, template, runId: `${cameraId}-first`, runStartMs: 0, gapReason: null }
}

type Insert = (camera: CameraFootage, startMs: number, path: string) => void

function addMinute(
  camera: CameraFootage,
  index: number,
  { startMs, minute }: { readonly startMs: number; readonly minute: number },
  insert: Insert,
): string | undefined {
  const gapStart = (index * 97) % (1440 - gapMinutes)
  if (minute >= gapStart && minute < gapStart + gapMinutes) {
    camera.gapReason = 'camera_unreachable'
    return undefined
  }
  if (camera.gapReason !== null || camera.runStartMs === 0) {
    camera.runId = `${camera.cameraId}-${startMs}`
    camera.runStartMs = startMs
  }
  const path = segmentPath(camera.cameraId, startMs)
  insert(camera, startMs, path)
  camera.gapReason = null
  return path
}

function openDatabase(file: string): DatabaseSync & Disposable {
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -400000')
  return Object.assign(database, { [Symbol.dispose]: () => database.close() })
}

function prepareInsert(database: DatabaseSync, writeTable: (startMs: number) => Uint8Array): Insert {
  const row =
    database.prepare(`insert into segments (camera_id, is_closed, start_ms, end_ms, run_id, run_start90k, path,
    bytes, init_bytes, codecs, width, height, init_hash, gap_reason, checksum)
    values (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const table = database.prepare('insert into segment_fragments (segment_id, fragments) values (?, ?)')
  return ({ cameraId, template, runId, runStartMs, gapReason }, startMs, path) => {
    const { initBytes, codecs, width, height, initHash } = template.segment
    const runStart90k = (startMs - runStartMs) * 90
    const place = [cameraId, startMs, startMs + minuteMs, runId, runStart90k, path, template.bytes] as const
    const { lastInsertRowid } = row.run(
      ...place,
      ...([initBytes, codecs, width, height, initHash, gapReason, template.checksum] as const),
    )
    table.run(lastInsertRowid, writeTable(startMs))
  }
}

/** The template's table for another minute; of all cameras the same, since their files differ in nothing but the camera's id. */
function createTableWriter(fragments: readonly Fragment[]): (startMs: number) => Uint8Array {
  const first = fragments[0]!
  let last: { startMs: number; table: Uint8Array } | undefined
  return (startMs) => {
    if (last?.startMs === startMs) return last.table
    const moved = fragments.map((fragment) => ({ ...fragment, startMs: fragment.startMs - first.startMs + startMs }))
    last = { startMs, table: writeFragmentTable(moved) }
    return last.table
  }
}

/** Puts a file, or a copy of it, under another name, in folders that are made when they are first needed. */
function createPlacer(): (file: string, name: string, options: { readonly isCopy: boolean }) => void {
  const folders = new Set<string>()
  return (file, name, { isCopy }) => {
    const folder = dirname(name)
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true })
    folders.add(folder)
    if (isCopy) copyFileSync(file, name)
    else linkSync(file, name)
  }
}
