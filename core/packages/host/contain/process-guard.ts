import { syncBuiltinESMExports } from 'node:module'

/** Functions of `process` that end it, put another program in its place, or change what all code of it shares. Some systems lack some. */
const guarded = ['exit', 'reallyExit', 'abort', 'kill', 'execve', 'chdir', 'umask', 'setuid', 'setgid', 'seteuid', 'setegid', 'setgroups',
  'initgroups'] as const

type Callable = (...given: unknown[]) => unknown

/**
 * Calls `before` with the name of each function that ends or changes the process, before that function runs; what `before` throws keeps it
 * from running. A look whether a process is there (signal 0) passes. Disposing puts the functions back.
 */
export function guardProcess (before: (name: string) => void): Disposable {
  const undo = guarded.flatMap((name) => {
    const own = Object.getOwnPropertyDescriptor(process, name)
    if (typeof own?.value !== 'function') return []
    const value = (...given: unknown[]): unknown => {
      if (name !== 'kill' || given[1] !== 0) before(name)
      return Reflect.apply(own.value as Callable, process, given)
    }
    Object.defineProperty(process, name, { ...own, value })
    return [() => Object.defineProperty(process, name, own)]
  })
  // For those who import the functions by name.
  syncBuiltinESMExports()
  return {
    [Symbol.dispose] () {
      for (const one of undo) one()
      syncBuiltinESMExports()
    }
  }
}
