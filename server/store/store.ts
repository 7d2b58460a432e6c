// The store: everything that the server remembers except footage. It is one database, shared with the command line.

import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Clock, systemClock } from '../base/clock.ts'
import type { AppError } from '../base/error.ts'
import { type Logger, silentLogger } from '../base/log.ts'
import { SealedBox } from '../base/sealed-box.ts'
import type { CameraLease } from '../model/camera-lease.ts'
import { AccountChanges } from './accounts/account-changes.ts'
import { Applications } from './accounts/applications.ts'
import { AuditRows } from './accounts/audit.ts'
import { FailureRows } from './accounts/failure-rows.ts'
import { Grants } from './accounts/grants.ts'
import { Identities } from './accounts/identities.ts'
import { Links } from './accounts/links.ts'
import { MailCounts } from './accounts/mail-counts.ts'
import { SecondFactors } from './accounts/second-factors.ts'
import { SessionRows } from './accounts/sessions.ts'
import { Tokens } from './accounts/tokens.ts'
import { UsedValues } from './accounts/used-values.ts'
import { UserLimits } from './accounts/user-limits.ts'
import { Users } from './accounts/users.ts'
import { CameraFigureRows } from './cameras/camera-figures.ts'
import { Cameras } from './cameras/cameras.ts'
import { EventRates } from './cameras/event-rates.ts'
import { Events } from './cameras/events.ts'
import { Guests } from './cameras/guests.ts'
import { Recordings } from './cameras/recordings.ts'
import { Shares } from './cameras/shares.ts'
import { ChangeFeed, type ChangeListener, type ChangePublisher, type StoreChange } from './engine/change-feed.ts'
import type { Watch } from './engine/database.ts'
import { openDatabase } from './engine/open-database.ts'
import { inTransaction } from './engine/transaction.ts'
import { GapMarks } from './footage/gap-marks.ts'
import { PlaceRows } from './footage/places.ts'
import { Segments } from './footage/segments.ts'
import { Streams } from './footage/streams.ts'
import type { Tables } from './schema.ts'
import { KeptValues } from './server/kept-values.ts'
import { checkLease, Leases } from './server/leases.ts'
import { Nodes } from './server/nodes.ts'
import { Placements } from './server/placements.ts'
import { checkSecret } from './server/secret-check.ts'
import { Settings } from './server/settings.ts'
import { TrustedTimes } from './server/trusted-times.ts'
import { WaitingMails } from './server/waiting-mails.ts'

export type StoreOptions = {
  /**
   * An SQLite file, which is created if it is missing, or `postgres://user:password@host:port/name`, which must exist.
   */
  readonly database: string
  /** 32 bytes that seal the cameras' passwords. */
  readonly credentialsKey: Uint8Array
  readonly clock?: Clock
  readonly log?: Logger
  /**
   * How often to check for changes by other processes, if the database does not notify about them; 0 disables the
   * check.
   */
  readonly foreignIntervalMs?: number
  /** See `OpenOptions`. Default: no. */
  readonly isServer?: boolean
}

/** One member per table or group of tables. */
export type StoreTables = {
  readonly users: Users
  readonly userLimits: UserLimits
  readonly accounts: AccountChanges
  readonly identities: Identities
  readonly links: Links
  readonly mails: MailCounts
  readonly cameras: Cameras
  readonly cameraFigures: CameraFigureRows
  readonly recordings: Recordings
  readonly guests: Guests
  readonly shares: Shares
  readonly tokens: Tokens
  readonly applications: Applications
  readonly grants: Grants
  readonly segments: Segments
  readonly gapMarks: GapMarks
  readonly places: PlaceRows
  readonly sessions: SessionRows
  readonly secondFactors: SecondFactors
  readonly usedValues: UsedValues
  readonly failures: FailureRows
  readonly settings: Settings
  readonly streams: Streams
  readonly events: Events
  readonly eventRates: EventRates
  readonly audit: AuditRows
  readonly trustedTimes: TrustedTimes
  readonly waitingMails: WaitingMails
  readonly nodes: Nodes
  readonly leases: Leases
  readonly placements: Placements
  readonly keptValues: KeptValues
}

export type Store = StoreTables & {
  /**
   * Runs `work` in a transaction: all changes through the given tables take effect, or none. Listeners are called after
   * the commit. The rules of `inTransaction` apply: use only these tables, be short, and expect to run again.
   */
  transaction<T>(work: (tables: StoreTables) => Promise<T>): Promise<T>
  /**
   * Like `transaction`, for what this server writes because it has a camera. Throws `LostLease` if it has not any more.
   * Without a lease, which is always so with SQLite, it is `work` alone.
   */
  fenced<T>(lease: CameraLease | undefined, work: (tables: StoreTables) => Promise<T>): Promise<T>
  /** See `ChangeFeed`. */
  readonly version: number
  readonly eventsVersion: number
  readonly accessVersion: number
  onChange(listener: ChangeListener): () => void
  /** See `Database`. */
  readonly lost: Promise<AppError>
  onReplaced(listener: () => void): void
  /** Resolves when the database responds. */
  check(): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Throws 'unavailable' if the database cannot be opened, and 'corrupt' if the file or the key is not the right one. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const {
    database,
    credentialsKey,
    clock = systemClock,
    log = silentLogger,
    foreignIntervalMs = 500,
    isServer = false,
  } = options
  const {
    db,
    sync,
    settle,
    lost,
    onReplaced,
    openWatch,
    close: closeDatabase,
  } = await openDatabase(database, { isServer, log })
  const box = new SealedBox(credentialsKey)
  const feed = new ChangeFeed()
  let watch: Watch | undefined
  try {
    await checkSecret(db, box)
    if (foreignIntervalMs > 0) watch = await openWatch({ feed, intervalMs: foreignIntervalMs, clock, log })
  } catch (error) {
    await closeDatabase()
    throw error
  }

  const close = async () => {
    await watch?.close()
    await closeDatabase()
  }
  const createTables = (db: Kysely<Tables>, feed: ChangePublisher): StoreTables => ({
    users: new Users(db, feed, clock),
    userLimits: new UserLimits(db, feed),
    accounts: new AccountChanges(db, feed, clock),
    identities: new Identities(db, feed, clock),
    links: new Links(db, clock),
    mails: new MailCounts(db, clock),
    cameras: new Cameras({ db, feed, clock, box, randomBytes }),
    recordings: new Recordings(db, feed, clock),
    guests: new Guests(db, feed, clock),
    shares: new Shares(db, feed, clock),
    tokens: new Tokens(db, feed, clock),
    applications: new Applications(db, feed, clock),
    grants: new Grants(db, feed, clock),
    segments: new Segments(db, { sync, settle }),
    cameraFigures: new CameraFigureRows(db),
    gapMarks: new GapMarks(db),
    places: new PlaceRows(db, feed),
    sessions: new SessionRows(db, feed),
    secondFactors: new SecondFactors({ db, feed, clock, box }),
    usedValues: new UsedValues(db),
    failures: new FailureRows(db),
    settings: new Settings(db),
    streams: new Streams(db),
    events: new Events(db, feed, clock),
    eventRates: new EventRates(db),
    audit: new AuditRows(db),
    trustedTimes: new TrustedTimes(db),
    waitingMails: new WaitingMails(db),
    nodes: new Nodes(db),
    leases: new Leases(db),
    placements: new Placements(db, feed),
    keptValues: new KeptValues(db),
  })
  const transaction = async <T>(work: (tables: StoreTables) => Promise<T>, lease?: CameraLease): Promise<T> => {
    /** Without duplicates. */
    const changes = new Map<string, StoreChange>()
    const result = await inTransaction(db, async (transaction) => {
      changes.clear()
      if (lease) await checkLease(transaction, lease)
      return work(createTables(transaction, { publish: (change) => changes.set(JSON.stringify(change), change) }))
    })
    for (const change of changes.values()) feed.publish(change)
    return result
  }
  const tables = createTables(db, feed)
  return {
    ...tables,
    transaction: (work) => transaction(work),
    fenced: (lease, work) => (lease ? transaction(work, lease) : work(tables)),
    get version() {
      return feed.version
    },
    get eventsVersion() {
      return feed.eventsVersion
    },
    get accessVersion() {
      return feed.accessVersion
    },
    onChange: (listener) => feed.onChange(listener),
    lost,
    onReplaced,
    check: async () => {
      await sql`select 1`.execute(db)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
