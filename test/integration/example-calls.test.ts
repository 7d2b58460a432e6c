// Runs the example calls of the API page in a shell.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openServerHere } from '../server-under-test.ts'

type Example = { readonly heading: string; readonly request: string; readonly call: string }

/** The examples of the sections that have one. */
function findExamples(page: string): Example[] {
  const [, ...sections] = page.split('<h3 ')
  return sections.flatMap((section) => {
    const text = section
      .replaceAll(/<(?!\/?(?:h3|pre|code)\b)[^>]*>/g, '')
      .replaceAll(/&(quot|#39|lt|gt|amp);/g, (_, name: string) => characters[name]!)
    const [, heading = ''] = /^[^>]*>(.*)<\/h3>/.exec(text) ?? []
    const [, request = ''] = /<code>((?:GET|POST|PUT|DELETE) \S+)<\/code>/.exec(text) ?? []
    const [, call] = /<pre class="code"><code>(curl [\s\S]*?)<\/code>/.exec(text) ?? []
    return call === undefined || request === '' ? [] : [{ heading, request, call }]
  })
}

const characters: { readonly [name: string]: string } = { quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' }

test('the server accepts every example call exactly as documented', async () => {
  await using server = await openServerHere()
  const { text: page } = await server.request('/docs/', { headers: { accept: 'text/html' } })
  const examples = findExamples(page)
  assert.ok(examples.length > 50)
  for (const { heading, request, call } of examples) {
    const [method, path] = request.split(' ') as [string, string]
    const command = call
      .replace('TOKEN', server.token)
      .replace('rtsp://192.168.1.20/', 'rtsp://127.0.0.1:9/')
      .replace(/^curl /, `curl --silent --output /dev/null --write-out '%{http_code}' --cacert '${server.caFile}' `)
    const { stdout } = await promisify(execFile)('bash', ['-c', command])
    const status = Number(stdout)
    // The objects and the application of the examples do not exist, but the server must understand the requests.
    const expected = path.startsWith('/oauth/')
      ? [200, 400, 401]
      : path.startsWith('/media/')
        ? [403]
        : path.includes('{') || heading === 'Create an event'
          ? [404]
          : [200, 201, 204]
    assert.ok(expected.includes(status), `${heading}, ${method} ${path}: ${status}\n${command}`)
  }
})
