import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemErrorText } from './error.ts'
import { unlessGone } from './vanishing.ts'

/** The lines of `postmaster.pid` (src/include/utils/pidfile.h); the status comes last. */
export type Postmaster = { pid: number, socketDir: string, port: number, status: string }

const pidFile = (data: string) => join(data, 'postmaster.pid')

/** The server that is recorded for this data directory, running or not; undefined when the record is missing or still incomplete. */
export function readPostmaster (data: string): Postmaster | undefined {
  if (!existsSync(pidFile(data))) return undefined
  const [pid, , , port, socketDir, , , status = ''] = readText(pidFile(data)).split('\n')
  if (pid === undefined || port === undefined || socketDir === undefined) return undefined
  return { pid: Number(pid), port: Number(port), socketDir, status: status.trim() }
}

/**
 * Whether the process is a server of this data directory. After a reboot, its process id may belong to another program. A server that has
 * ended but still exists as a zombie has no command line any more.
 */
export function isPostmaster (pid: number, data: string): boolean {
  return processExists(pid) && commandLine(pid).includes(` -D ${data} `)
}

/** Whether a process with this id runs, under any account. */
export function processExists (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemErrorText(error) === 'EPERM'
  }
}

/**
 * Lets a new server take over a pid file whose process id now belongs to another program. PostgreSQL never counts its own parent process as
 * a rival, so the file gets the parent's id. The rest stays, because PostgreSQL looks there for shared memory that is still in use. The
 * file is read and written through one descriptor: if a rival start replaces the file meanwhile, its new file is not changed.
 */
export function takeOverPidFile (data: string): void {
  const file = unlessGone(() => openSync(pidFile(data), 'r+'))
  if (file === undefined) return
  try {
    const [pid, ...rest] = readFileSync(file, 'utf8').split('\n')
    if (!pid || !processExists(Number(pid)) || isPostmaster(Number(pid), data)) return
    ftruncateSync(file)
    writeSync(file, [process.pid, ...rest].join('\n'), 0)
  } finally {
    closeSync(file)
  }
}

/** Sends a signal to the server of this data directory, if it runs. */
export function signalServer (pid: number, data: string, signal: NodeJS.Signals): void {
  if (isPostmaster(pid, data)) unlessGone(() => process.kill(pid, signal))
}

/** A fast shutdown: connections are closed and open transactions are rolled back. It resolves when the process has ended. */
export async function stopServer (pid: number, data: string): Promise<void> {
  signalServer(pid, data, 'SIGINT')
  while (isPostmaster(pid, data)) await sleep(10)
}

function commandLine (pid: number): string {
  if (process.platform === 'linux') return readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

/** The content of the file, empty if it has disappeared meanwhile. */
const readText = (path: string): string => unlessGone(() => readFileSync(path, 'utf8')) ?? ''
