import { numberOf, type SystemCall } from '../seccomp.ts'

/** What a call of the system answered: what it returned, and the number of its error, 0 where there was none. */
export type Answer = { value: number, error: number }
/** An argument: a number, the bytes that it points to, or nothing. */
export type Argument = number | bigint | Buffer

/** System calls that this process makes without Node in between. */
export type Kernel = {
  call: (name: SystemCall, ...args: readonly Argument[]) => Answer
  /** The address of bytes, which must stay referenced while it is used. */
  addressOf: (bytes: Buffer) => bigint
  /** Takes the way to make such calls away from this process, for good. */
  close: () => void
}

/** Undefined where Node cannot make them, or their numbers on this machine are not known. */
export function openKernel (): Kernel | undefined {
  const isPossible = numberOf('prctl') !== undefined && process.permission.has('ffi')
  const ffi = isPossible ? process.getBuiltinModule('node:ffi') : undefined
  if (ffi === undefined) return undefined
  const { lib, functions: { syscall, __errno_location: errorAt } } = ffi.dlopen(null, {
    syscall: { arguments: Array.from({ length: 7 }, () => 'i64' as const), return: 'i64' },
    __errno_location: { arguments: [], return: 'pointer' }
  })
  const addressOf = (bytes: Buffer): bigint => ffi.getRawPointer(bytes)
  return {
    addressOf,
    call (name, ...args) {
      const given = Array.from({ length: 6 }, (_, index) => {
        const argument = args[index] ?? 0
        return Buffer.isBuffer(argument) ? addressOf(argument) : BigInt(argument)
      })
      const value = Number(syscall(BigInt(numberOf(name) ?? -1), ...given))
      return { value, error: value < 0 ? ffi.getInt32(errorAt(), 0) : 0 }
    },
    close () {
      lib.close()
      process.permission.drop('ffi')
    }
  }
}
