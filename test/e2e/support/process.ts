import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { processExists, readPostmaster, stopServer } from '../../../core/packages/embedded-postgres/postmaster.ts'
import { admin, type Login } from '../../support/service.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url))
const nobody = 65534
export const isRoot = process.getuid?.() === 0

/** The service as a process of its own. */
export type ServiceProcess = {
  /** Of the process that was started: npm, or the service itself. Its process group has the same number. */
  pid: number
  /** Its address, once it is ready. */
  url: () => string
  stdout: () => string
  stderr: () => string
  /** The structured lines so far. */
  log: () => Record<string, unknown>[]
  /** Reads no more of what it writes. */
  closeOutput: () => void
  /** Resolves once it has told that it is ready; throws when it ends before. */
  ready: () => Promise<void>
  /** Resolves with its exit code or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>
}

export type Starting = {
  dataDirectory: string
  env?: Record<string, string>
  /** What is run in the checkout; the service itself unless given. */
  command?: [string, ...string[]]
  /** Runs as the user without name or rights. */
  asNobody?: true
  cwd?: string
}

// tap's word for a test that is out of time; without a listener nothing would be ended.
process.once('SIGALRM', () => process.exit(1))

/** A temporary folder that every user may pass through. The test's end stops what still runs on it and removes it. */
export function dataDirectory (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-e2e-'))
  chmodSync(folder, 0o711)
  const path = join(folder, 'data')
  const abandon = (): void => {
    kill(databasePid(path), 'SIGQUIT')
  }
  process.once('exit', abandon)
  t.teardown(async () => {
    const left = readPostmaster(clusterOf(path))
    if (left !== undefined) await stopServer(left.pid, clusterOf(path))
    process.removeListener('exit', abandon)
    rmSync(folder, { recursive: true, force: true })
  })
  return path
}

/**
 * Of the tests' environment, what a process of the checkout at `folder` has too: where its providers run, and where Node keeps the modules
 * that it has compiled. A copy has some of its own, beside its packages.
 */
export function passedOn (folder: string): Record<string, string> {
  const names = ['DISPATCH_SANDBOX', 'NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_PORTABLE']
  const passed = Object.fromEntries(names.flatMap((name) => process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  return folder === root ? passed : { ...passed, NODE_COMPILE_CACHE: join(folder, 'node_modules/.cache/compiled') }
}

/** What a command said, and its exit code. */
export type CommandResult = { code: number | null, stdout: string, stderr: string }

/** Runs `npm run dispatch -- …` as npm does, with `input` on its standard input. */
export async function runDispatch (
  args: readonly string[],
  { env, input = '' }: { env: Record<string, string>, input?: string }
): Promise<CommandResult> {
  const child = spawn(process.execPath, ['scripts/dispatch.ts', ...args], {
    cwd: root,
    env: { ...passedOn(root), PATH: process.env['PATH'], HOME: process.env['HOME'], ...env }
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (text: Buffer) => {
    said.stdout += text.toString()
  })
  child.stderr.on('data', (text: Buffer) => {
    said.stderr += text.toString()
  })
  // It may have refused its arguments before it reads.
  child.stdin.on('error', () => undefined).end(input)
  await once(child, 'close')
  return { code: child.exitCode, ...said }
}

/** Starts the service on any free port, in a process group of its own, with nothing else of the tests' environment. */
export function startProcess (
  t: Test,
  { dataDirectory, env = {}, command = [process.execPath, 'scripts/serve.ts'], asNobody, cwd = root }: Starting
): ServiceProcess {
  const [program, ...args] = command
  const told = env['NODE_ENV'] === 'production' ? address.production : address.development
  const child = spawn(program, args, {
    cwd,
    env: {
      ...passedOn(cwd),
      PATH: pathOutside(),
      HOME: process.env['HOME'],
      PORT: '0',
      DISPATCH_DATA_DIR: dataDirectory,
      DISPATCH_DEMO_CATALOG: 'off',
      ...env
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(asNobody === undefined ? {} : { uid: nobody, gid: nobody })
  })
  endWithTest(t, child)
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode)
  const ready = async (): Promise<void> => {
    while (!told.test(output.stdout)) {
      const more = once(child.stdout, 'data').then(() => 'more')
      if (await Promise.race([more, ended]) !== 'more') throw new Error(`The service has ended: ${output.stderr}`)
    }
  }
  return {
    pid: Number(child.pid),
    url: () => told.exec(output.stdout)?.[1] ?? '',
    ready,
    ended,
    closeOutput: () => child.stdout.destroy(),
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    log: () => linesOf(output.stdout)
  }
}

/** A started service that is ready. */
export async function startReady (t: Test, starting: Starting): Promise<ServiceProcess> {
  const service = startProcess(t, starting)
  await service.ready()
  return service
}

/** Ends a service as an operator does, and waits until it has ended. */
export async function stop ({ pid, ended }: ServiceProcess): Promise<void> {
  process.kill(pid, 'SIGTERM')
  await ended
}

/** What a service that must not start says on standard error, and its exit code. */
export async function refusalOf (t: Test, starting: Starting): Promise<{ code: unknown, stderr: string }> {
  const service = startProcess(t, starting)
  return { code: await service.ended, stderr: service.stderr() }
}

/** Sends JSON as the admin of "Demo", or as another. */
export async function send (
  url: string,
  method: string,
  path: string,
  body?: unknown,
  { email, password }: Login = admin
): Promise<{ status: number, body: any }> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return {
    status: response.status,
    body: response.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text
  }
}

/** The process number of the service's own database server; undefined when none runs. */
export function databasePid (dataDirectory: string): number | undefined {
  const pid = readPostmaster(clusterOf(dataDirectory))?.pid
  return pid !== undefined && processExists(pid) ? pid : undefined
}

/** The process number that the service itself writes into its log: npm has another. */
export function servicePid (service: ServiceProcess): number {
  return Number(service.log().at(0)?.['pid'])
}

/** Resolves when none of the processes is left: one that has ended may wait for the system to collect it. */
export async function gone (...pids: readonly (number | undefined)[]): Promise<void> {
  while (pids.some((pid) => processExists(Number(pid)))) await pause(20)
}

/** What tells that the service is ready, and where. */
const address = { development: /is ready at (\S+) [^]*?\ncurl [^]*?\n\n/, production: /Server listening at (https?:[^"]+)/ }

const clusterOf = (dataDirectory: string): string => join(dataDirectory, 'postgres/data')

function linesOf (text: string): Record<string, unknown>[] {
  return text.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

/** As in a terminal: the tools of the checkout are not on it, `npm start` finds them itself. */
function pathOutside (): string {
  return (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules')).join(delimiter)
}

/** A test that crashes or runs out of time leaves nothing running either. */
function endWithTest (t: Test, child: ChildProcess): void {
  const closed = once(child, 'close')
  const end = (): void => {
    kill(-Number(child.pid), 'SIGKILL')
  }
  process.once('exit', end)
  t.teardown(async () => {
    end()
    await closed
    process.removeListener('exit', end)
  })
}

/** A process or, by a negative number, a process group; it may have ended. */
function kill (pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid !== undefined && processExists(pid)) process.kill(pid, signal)
}
