/**
 * A thread beside the main one of `child.ts`. Each line that it writes has the processor time of the process in milliseconds, and how the
 * main thread is, also while that is blocked: `S` where it waits, `R` where it runs or would run if the machine let it (proc(5)).
 */
import { readFileSync, writeSync } from 'node:fs'
import { beatEvery, pulsePipe } from './beats.ts'

let before = 0

setInterval(() => {
  const { user, system } = process.cpuUsage()
  const used = Math.round((user + system) / 1000)
  writeSync(pulsePipe, `${used} ${stateOf(used - before)}\n`)
  before = used
}, beatEvery)

/** Where no system tells, a thread that has hardly used a processor is taken to wait. */
function stateOf (worked: number): string {
  if (process.platform !== 'linux') return worked < beatEvery / 10 ? 'S' : 'R'
  const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).charAt(0)
}
