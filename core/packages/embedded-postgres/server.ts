import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketPort } from './access.ts'
import { dataOf } from './cluster.ts'
import { StartError, systemErrorText } from './error.ts'
import { commandOf, type OsAccount } from './os-account.ts'
import { readPostmaster } from './postmaster.ts'

/** PostgreSQL's settings by name. */
export type ServerSettings = Record<string, string>

/** Settings for short transactions on one machine with little memory. Durability is unchanged: fsync and synchronous_commit are on. */
const settings: ServerSettings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  shared_buffers: '64MB',
  // Reads are small and mostly cached, so three I/O worker processes would only cost memory.
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The log is for starts, recoveries and crashes. The sender of a failed statement gets its error; in the log it would only leak values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off'
}

/** A log with more bytes than this is emptied at the next start. */
const logLimit = 1_000_000

/**
 * Starts a server on `<dir>/data`, in its own session, so that a Ctrl-C in the terminal does not reach it. It continues to run if the
 * service is killed. Its log is `<dir>/postgres.log`.
 * @returns the process id when it answers; undefined when another server on the same data was faster.
 * @throws StartError with the server's own message when it ends before that.
 */
export async function launchServer (
  dir: string,
  socketDir: string,
  account: OsAccount,
  extra: ServerSettings
): Promise<number | undefined> {
  const log = join(dir, 'postgres.log')
  const child = await spawnServer(argumentsOf(dir, socketDir, extra), account, log)
  while (child.exitCode === null && child.signalCode === null) {
    const postmaster = readPostmaster(dataOf(dir))
    if (postmaster?.pid === child.pid && postmaster?.status === 'ready') return child.pid
    await sleep(5)
  }
  const complaint = complaintOf(child, readFileSync(log, 'utf8'))
  // PostgreSQL's own protection against a second server on the same data.
  if (/lock file .* (?:already exists|is empty)|shared memory block/.test(complaint)) return undefined
  throw new StartError(`PostgreSQL did not start in ${dir}: ${complaint}`)
}

function argumentsOf (dir: string, socketDir: string, extra: ServerSettings): string[] {
  const flags = Object.entries({ ...settings, ...extra }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', dataOf(dir), '-k', socketDir, '-p', String(socketPort), ...flags]
}

async function spawnServer (args: string[], account: OsAccount, logPath: string): Promise<ChildProcess> {
  const isLong = (statSync(logPath, { throwIfNoEntry: false })?.size ?? 0) > logLimit
  const log = openSync(logPath, isLong ? 'w' : 'a', 0o600)
  try {
    const child = spawn(...commandOf(account, 'postgres', args), {
      ...account.ids,
      cwd: '/',
      env: { PATH: process.env['PATH'] },
      detached: true,
      stdio: ['ignore', log, log]
    })
    await once(child, 'spawn')
    child.unref()
    return child
  } catch (error) {
    throw new StartError(`PostgreSQL could not be run from ${account.binaries.home}: ${systemErrorText(error)}`, { cause: error })
  } finally {
    closeSync(log)
  }
}

/** The last fatal message that this server logged (rivals share the log), else the last line of all. */
function complaintOf ({ pid, exitCode, signalCode }: ChildProcess, log: string): string {
  const fatal = [...log.matchAll(new RegExp(`\\[${pid}\\] (?:FATAL|PANIC): +(.*)`, 'g'))].at(-1)?.[1]
  const last = log.trim().split('\n').at(-1) ?? ''
  return fatal ?? (last === '' ? `it ended with ${signalCode ?? exitCode}` : last)
}
