import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemErrorText } from './error.ts'

/** What a server writes to `postmaster.pid` (src/include/utils/pidfile.h); the status comes last. */
export type Postmaster = { pid: number, socketDir: string, port: number, status: string }

const pidFile = (data: string) => join(data, 'postmaster.pid')

/** The server that says it runs on this data directory, dead or alive; undefined when none does, or it has not said enough yet. */
export function readPostmaster (data: string): Postmaster | undefined {
  if (!existsSync(pidFile(data))) return undefined
  const [pid, , , port, socketDir, , , status = ''] = readText(pidFile(data)).split('\n')
  if (pid === undefined || port === undefined || socketDir === undefined) return undefined
  return { pid: Number(pid), port: Number(port), socketDir, status: status.trim() }
}

/**
 * Whether the process is a server of this data directory: after a reboot, its number may be another program's.
 * A server that has ended and was not collected yet has no command line any more.
 */
export function isPostmaster (pid: number, data: string): boolean {
  return processExists(pid) && commandLine(pid).includes(` -D ${data} `)
}

/** Whether a process of this number runs, whoever it belongs to. */
export function processExists (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemErrorText(error) === 'EPERM'
  }
}

/**
 * Lets a new server take over a pid file whose number now belongs to another program. PostgreSQL never takes the process that
 * started it for a rival, so the file is made to name that one; the rest stays, because PostgreSQL looks there for shared memory
 * still in use. Read and written through one descriptor: a rival start that replaced the file meanwhile keeps its own.
 */
export function takeOverPidFile (data: string): void {
  if (!existsSync(pidFile(data))) return
  const file = openSync(pidFile(data), 'r+')
  try {
    const [pid, ...rest] = readFileSync(file, 'utf8').split('\n')
    if (!pid || !processExists(Number(pid)) || isPostmaster(Number(pid), data)) return
    ftruncateSync(file)
    writeSync(file, [process.pid, ...rest].join('\n'), 0)
  } finally {
    closeSync(file)
  }
}

/** A fast shutdown: connections are ended, open transactions rolled back. Resolves when the process is gone. */
export async function stopServer (pid: number, data: string): Promise<void> {
  if (isPostmaster(pid, data)) process.kill(pid, 'SIGINT')
  while (isPostmaster(pid, data)) await sleep(10)
}

function commandLine (pid: number): string {
  if (process.platform === 'linux') return readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

/** The file's text, empty when it vanished meanwhile. */
function readText (path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(systemErrorText(error))) return ''
    throw error
  }
}
