// Tests the filter with an interpreter of its few instructions for every call number, and with the kernel itself.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { test } from 'node:test'
import { writeSyscallFilter } from './syscall-filter.ts'
import { type Syscall, syscallNumbers, syscalls } from './syscall-numbers.ts'

const { EPERM, ENOSYS } = constants.errno
const killed = 0x80000000
const allowed = 0x7fff0000
const refused = (errno: number) => 0x00050000 + errno

type Call = { readonly number: number; readonly architecture: number; readonly args?: readonly bigint[] }

/**
 * Implements net/core/filter.c, as far as the filter uses it. Like the check of the kernel, it fails on a jump beyond
 * the end.
 */
function run(filter: Uint8Array, { number, architecture, args = [] }: Call): number {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, number, true)
  data.setUint32(4, architecture, true)
  for (const [i, value] of args.entries()) data.setBigUint64(16 + 8 * i, value, true)
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength)
  let accumulator = 0
  for (let at = 0; ; at++) {
    assert.ok(at * 8 < filter.length, 'the program ends with a return')
    const value = program.getUint32(at * 8 + 4, true)
    const jump = (isTrue: boolean) => {
      at += program.getUint8(at * 8 + (isTrue ? 2 : 3))
    }
    switch (program.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(value, true)
        break
      case 0x15:
        jump(accumulator === value)
        break
      case 0x35:
        jump(accumulator >= value)
        break
      case 0x45:
        jump((accumulator & value) !== 0)
        break
      case 0x54:
        accumulator = (accumulator & value) >>> 0
        break
      case 0x06:
        return value
      default:
        assert.fail(`instruction ${at} is not one that the filter uses`)
    }
  }
}

for (const arch of ['x64', 'arm64'] as const) {
  const filter = writeSyscallFilter(arch)!
  const { architecture } = syscallNumbers[arch]!
  const answer = (number: number, ...args: bigint[]) => run(filter, { number, architecture, args })
  const listed = new Map<number, Syscall['treatment'] | 'forbidden'>(
    Object.values(syscalls).flatMap((call: Syscall) => {
      const number = call[arch]
      return number === undefined ? [] : [[number, call.treatment ?? 'forbidden'] as const]
    }),
  )

  test(`${arch}: listed calls are denied, others are allowed, and newer calls do not exist`, () => {
    for (let number = 0; number < 2000; number++) {
      const treatment = listed.get(number)
      if (treatment === 'examined') continue
      const expected =
        treatment === 'forbidden' ? refused(EPERM) : treatment === 'unknown' || number > 450 ? refused(ENOSYS) : allowed
      assert.equal(answer(number), expected, `number ${number}`)
    }
  })

  test(`${arch}: threads are allowed, processes and namespaces are not`, () => {
    const clone = syscalls.clone[arch]!
    // CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID, as used by the C library
    const thread = 0x3d0f00n
    assert.equal(answer(clone, thread), allowed)
    assert.equal(answer(clone, 17n), refused(EPERM), 'fork')
    assert.equal(answer(clone, 0x4111n), refused(EPERM), 'vfork')
    for (const flag of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n]) {
      assert.equal(answer(clone, thread | flag), refused(EPERM), `a namespace, ${flag.toString(16)}`)
    }
  })

  test(`${arch}: private and file-backed memory is allowed, shared anonymous memory is not`, () => {
    const mmap = syscalls.mmap[arch]!
    const withFlags = (flags: bigint) => answer(mmap, 0n, 4096n, 3n, flags)
    assert.equal(withFlags(0x22n), allowed, 'private, anonymous')
    assert.equal(withFlags(0x4022n), allowed, 'not reserved too')
    assert.equal(withFlags(0x01n), allowed, 'of a file, shared')
    assert.equal(withFlags(0x21n), refused(EPERM))
    assert.equal(withFlags(0x23n), refused(EPERM), 'MAP_SHARED_VALIDATE')
    assert.equal(withFlags(0x40021n), refused(EPERM), 'of large pages')
  })

  test(`${arch}: calls with the convention of another architecture end the process`, () => {
    for (const [other, { architecture: theirs }] of Object.entries(
      syscallNumbers as Record<string, { architecture: number }>,
    )) {
      if (other !== arch) assert.equal(run(filter, { number: 0, architecture: theirs }), killed)
    }
    // 32-bit x86 and ARM
    for (const theirs of [0x40000003, 0x40000028])
      assert.equal(run(filter, { number: 0, architecture: theirs }), killed)
    if (arch === 'x64') assert.equal(answer(0x40000000 + 1), killed, 'x32')
  })
}

test('there is no filter for processors with unknown call numbers', () => {
  assert.equal(writeSyscallFilter('riscv64'), undefined)
})

/** Installs the filter from its standard input in itself, calls each given number and prints the error of each call. */
const callAll = `
import ctypes, json, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
program = sys.stdin.buffer.read()
held = ctypes.create_string_buffer(program, len(program))
class Filter(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('program', ctypes.c_void_p)]
of = Filter(len(program) // 8, ctypes.addressof(held))
assert libc.prctl(38, 1, 0, 0, 0) == 0, 'no new privileges'
assert libc.prctl(22, 2, ctypes.byref(of), 0, 0) == 0, 'the kernel refuses the filter'
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(number, *args)
    return ctypes.get_errno() if result == -1 else 0
print(json.dumps([call(*each) for each in json.loads(sys.argv[1])]))
`

test('the kernel accepts and applies the filter', { skip: process.platform !== 'linux' }, (t) => {
  const filter = writeSyscallFilter()
  if (!filter) return t.skip(`there is no filter for ${process.arch}`)
  const column = process.arch as 'x64' | 'arm64'
  const refusedCalls = Object.entries(syscalls as { [name: string]: Syscall }).flatMap(([name, call]) =>
    call[column] === undefined || call.treatment === 'examined'
      ? []
      : [{ name, number: call[column], treatment: call.treatment }],
  )
  // mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), then private; getppid
  const getppid = column === 'x64' ? 110 : 173
  const { mmap, clone } = { mmap: syscalls.mmap[column]!, clone: syscalls.clone[column]! }
  const others = [
    [mmap, 0, 4096, 1, 0x21, -1, 0],
    [mmap, 0, 4096, 1, 0x22, -1, 0],
    [clone, 17, 0, 0, 0, 0],
    [getppid],
    [462],
  ]
  const calls = [...refusedCalls.map(({ number }) => [number, 0, 0, 0, 0, 0, 0]), ...others]
  const { stdout, stderr, status } = spawnSync('/usr/bin/python3', ['-c', callAll, JSON.stringify(calls)], {
    input: filter,
  })
  assert.equal(status, 0, stderr.toString())
  const errors = JSON.parse(stdout.toString()) as number[]
  for (const [i, { name, treatment }] of refusedCalls.entries()) {
    assert.equal(errors[i], treatment === 'unknown' ? ENOSYS : EPERM, name)
  }
  assert.deepEqual(errors.slice(refusedCalls.length), [EPERM, 0, EPERM, 0, ENOSYS])
})
