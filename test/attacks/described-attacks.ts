// Valid and invalid requests generated from the API description, sent by users who also try them on other users'
// objects, over both versions of HTTP.

import fc from 'fast-check'
import type { OpenApiDocument } from '../../server/api/description/openapi.ts'
import { createRequests, type DescribedRequest } from '../description/described-requests.ts'
import { isAsked, KnownObjects, listOperations } from '../description/known-objects.ts'
import { SchemaValues } from '../description/schema-values.ts'
import type { SentAnswer } from '../support/api/check-answer.ts'
import type { AccountName, Attack, Dice } from './attack.ts'
import type { GrammarOptions } from './http1-attacks.ts'
import { type Field, frameTypes, preface, write32, writeFrame, writeRequest, writeSettings } from './http2-frames.ts'

export type DescribedAttack = Attack & {
  readonly request: DescribedRequest
  readonly url: string
}

export type DescribedAttacks = {
  /** The same for the same seed, except for the IDs of objects that were created in the meantime. */
  create(seed: number, dice: Dice): DescribedAttack
  /** Objects mentioned in a response are used in later requests. */
  learn(attack: DescribedAttack, answer: SentAnswer): void
}

/** With windows that hold any response (RFC 9113 sections 6.5.2 and 6.9). */
const opening = [
  preface,
  writeSettings([[4, 2 ** 31 - 1]]),
  writeFrame(frameTypes.windowUpdate, 0, 0, write32(2 ** 30)),
]

export type DescribedOptions = GrammarOptions & {
  readonly description: OpenApiDocument
  /** URL of a working camera. */
  readonly cameraUrl: string
}

export function createDescribedAttacks({
  description,
  household,
  host,
  cameraUrl,
}: DescribedOptions): DescribedAttacks {
  const { accounts, clientId } = household
  const all = Object.values(accounts)
  const callers = new Map<string, AccountName>()
  for (const { name, token, access } of all) {
    callers.set(`PersonalAccessToken ${token}`, name).set(`Bearer ${access}`, name)
  }
  const credentials = [...callers].flatMap(([value, name]) =>
    name === 'victor' ? [] : name === 'stan' ? [value, value] : [value],
  )
  const names = new Set(all.flatMap(({ otherIds }) => Object.keys(otherIds)))
  const idsOf = (name: string) => all.flatMap(({ otherIds }) => otherIds[name] ?? [])
  const cameraIds = all.flatMap((account) => account.cameraIds)
  const operations = listOperations(description).filter(isAsked)
  // Attackers try to delete other users' objects and the objects they create, but never their own credentials.
  const own = new Set([...accounts.gus.cameraIds, ...accounts.stan.cameraIds])
  const shared = accounts.vera.cameraIds[0]
  const mayRemove = (path: string, id: string | number) => {
    if (path.startsWith('/v1/cameras/')) return !own.has(Number(id))
    if (path.startsWith('/v1/shared-cameras/')) return id !== shared
    const attackers = [accounts.gus, accounts.stan]
    return !attackers.some(({ otherIds }) => Object.values(otherIds).flat().includes(Number(id)))
  }
  const knownObjects = new KnownObjects(
    operations,
    { camera_id: cameraIds, ...Object.fromEntries([...names].map((name) => [name, idsOf(name)])) },
    mayRemove,
  )
  const nowhere = fc.constantFrom('rtsp://127.0.0.1:9/none', 'rtsp://ada:secret@127.0.0.1:9/none')
  const requests = createRequests(operations, {
    values: new SchemaValues(description, {
      url: fc.oneof({ weight: 1, arbitrary: fc.constant(cameraUrl) }, { weight: 4, arbitrary: nowhere }),
      client_id: fc.constantFrom(clientId, 'nobody'),
      // This is not a mark: it is also the username of a camera, and whoever set it may read it.
      username: fc.constantFrom(accounts.olive.email, 'ada'),
      password: fc.constantFrom('not it', 'x'),
      own_password: fc.constantFrom('not it', 'x'),
      scope: fc.constantFrom('read', 'user_access', 'account_manage', 'nothing', ''),
      camera: fc.constantFrom(...cameraIds, 424242),
      // The hashes of other cameras are left out because they are credentials.
      hash: fc.constantFrom(...accounts.stan.eventHashes, '0'.repeat(32)),
    }),
    callers: [...credentials, undefined, undefined],
  })

  return {
    create(seed, dice) {
      const [request] = fc.sample(requests, { numRuns: 1, seed })
      return write(request!, dice)
    },
    learn({ request, url }, answer) {
      if (answer.status === 201 || answer.status === 204) knownObjects.learn(request, { ...answer, url })
    },
  }

  function write(made: DescribedRequest, dice: Dice): DescribedAttack {
    const name = callers.get(made.headers.authorization ?? '')
    // Requests of these accounts must find everything unchanged.
    const isWatcher = name === 'vera' || name === 'olive'
    const isReading = made.method === 'GET' || isWatcher
    const request = isReading ? { ...made, method: 'GET', body: undefined } : made
    const target = `${knownObjects.writePath(request)}?${request.query}`
    const body = request.body === undefined ? undefined : Buffer.from(request.body)
    const isHttp2 = dice.isOneIn(3)
    const fields = Object.entries(request.headers)
    const length: [string, string][] = body ? [['content-length', `${body.length}`]] : []
    const head: Field[] = [
      [':method', request.method],
      [':scheme', 'https'],
      [':authority', host],
      [':path', target],
    ]
    const bytes = isHttp2
      ? Buffer.concat([...opening, writeRequest(1, [...head, ...fields, ...length], body)])
      : Buffer.concat([writeHead(request.method, target, host, [...fields, ...length]), body ?? Buffer.alloc(0)])
    return {
      ...{ kind: 'description', what: made.operation.operationId, protocol: isHttp2 ? 'h2' : 'http/1.1' },
      ...{ writes: [bytes], callers: name ? [name] : [], ending: 'wait', request },
      url: `https://${host}${target}`,
    }
  }
}

function writeHead(
  method: string,
  target: string,
  host: string,
  fields: readonly (readonly [string, string])[],
): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close']
  return Buffer.from([...lines, ...fields.map((field) => field.join(': ')), '', ''].join('\r\n'), 'latin1')
}
