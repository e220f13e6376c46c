import { readFileSync } from 'node:fs'

/** Of a second: the unit of the kernel for the times of processes (proc(5), `/proc/pid/stat`). */
const tick = 1 / 100

/** Seconds for which all threads of a process have been on a processor, for itself and in the kernel. */
export function processorTime (pid: number): number {
  // Its name, in parentheses, may have spaces.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * tick
}
