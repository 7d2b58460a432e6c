// The system call filter, as a seccomp program (classic BPF) for the kernel: it denies calls that a decoder never
// needs. Bubblewrap installs it.
//
// It lists the denied calls, because the needs of Node and the C library change with each version. Calls newer than the
// list fail as if the kernel did not have them.

import { constants } from 'node:os'
import { lastSyscall, type SyscallNumbers, syscallNumbers, syscalls } from './syscall-numbers.ts'

type Instruction = readonly [code: number, jumpIfTrue: number, jumpIfFalse: number, value: number]

// linux/bpf_common.h
const loadWord = 0x20
const jumpIfEqual = 0x15
const jumpIfGreaterOrEqual = 0x35
const jumpIfAnySet = 0x45
const and = 0x54
const returnAction = 0x06

// linux/seccomp.h; struct seccomp_data: the call number, the architecture, 8 bytes of address, six arguments of 8 bytes
const killProcess = 0x80000000
const allow = 0x7fff0000
const fail = (errno: number) => 0x00050000 | errno
const numberOffset = 0
const architectureOffset = 4
/** Offset of the lower half of an argument, on little-endian machines. */
const argumentOffset = (index: number) => 16 + 8 * index

/** Bits of the first argument of clone: a thread; any new namespace. */
const threadFlag = 0x00010000
const namespaceFlags = 0x7e020080
/** Bits of the fourth argument of mmap: shared memory without a file. */
const sharedAnonymous = 0x21

/** Returns undefined for a processor whose call numbers are unknown. */
export function writeSyscallFilter(arch: string = process.arch): Uint8Array | undefined {
  const numbers = syscallNumbers[arch]
  return numbers && encode(writeInstructions(numbers))
}

function writeInstructions({ architecture, column, foreignBit }: SyscallNumbers): Instruction[] {
  const { EPERM, ENOSYS } = constants.errno
  const numberOf = (name: keyof typeof syscalls) => syscalls[name][column]
  const deny = (number: number, errno: number): Instruction[] => [
    [jumpIfEqual, 0, 1, number],
    [returnAction, 0, 0, fail(errno)],
  ]
  const denied = Object.values(syscalls).flatMap(({ [column]: number, treatment }) => {
    if (number === undefined || treatment === 'examined') return []
    return deny(number, treatment === 'unknown' ? ENOSYS : EPERM)
  })
  return [
    [loadWord, 0, 0, architectureOffset],
    [jumpIfEqual, 1, 0, architecture],
    [returnAction, 0, 0, killProcess],
    [loadWord, 0, 0, numberOffset],
    // The alternative calling convention on x86-64 has its own numbers.
    ...(foreignBit === undefined
      ? []
      : ([
          [jumpIfGreaterOrEqual, 0, 1, foreignBit],
          [returnAction, 0, 0, killProcess],
        ] as Instruction[])),
    [jumpIfGreaterOrEqual, 0, 1, lastSyscall + 1],
    [returnAction, 0, 0, fail(ENOSYS)],
    ...denied,
    // Threads are allowed, processes are not.
    [jumpIfEqual, 0, 5, numberOf('clone')!],
    [loadWord, 0, 0, argumentOffset(0)],
    [jumpIfAnySet, 2, 0, namespaceFlags],
    [jumpIfAnySet, 0, 1, threadFlag],
    [returnAction, 0, 0, allow],
    [returnAction, 0, 0, fail(EPERM)],
    // Shared memory does not count towards the memory limit.
    [jumpIfEqual, 0, 4, numberOf('mmap')!],
    [loadWord, 0, 0, argumentOffset(3)],
    [and, 0, 0, sharedAnonymous],
    [jumpIfEqual, 0, 1, sharedAnonymous],
    [returnAction, 0, 0, fail(EPERM)],
    [returnAction, 0, 0, allow],
  ]
}

/** struct sock_filter: 2 bytes of code, two jumps of one byte each, 4 bytes of value. */
function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [i, [code, jumpIfTrue, jumpIfFalse, value]] of instructions.entries()) {
    view.setUint16(i * 8, code, true)
    view.setUint8(i * 8 + 2, jumpIfTrue)
    view.setUint8(i * 8 + 3, jumpIfFalse)
    view.setUint32(i * 8 + 4, value >>> 0, true)
  }
  return bytes
}
