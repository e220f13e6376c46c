import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import type { SandboxOptions } from '../provider.ts'
import type { Layer } from '../walls.ts'
import { actsOf, outpost } from './support.ts'

/** Resolves to the words of what was thrown, or to what was reached. */
const attempt = `
const attempt = async (what) => {
  try {
    const reached = await what()
    return { reached: String(reached).slice(0, 200) }
  } catch (error) {
    return { denied: String(error?.code ?? error?.cause?.code ?? error?.message ?? error).slice(0, 200) }
  }
}`

const secrets = await directory(t)
await mkdir(join(secrets, 'data'))
await writeFile(join(secrets, 'data', 'master.key'), 'canary')

/** What an adapter tries, by name; `PORT` and `SOCKET` lead to servers of this test, `PID` is this process. */
const probes: Record<string, string> = {
  '/etc/passwd': 'fs.readFileSync(\'/etc/passwd\')',
  'the data directory': `fs.readdirSync('${secrets}/data')`,
  'the master key': `fs.readFileSync('${secrets}/data/master.key')`,
  'its own environment': 'fs.readFileSync(\'/proc/self/environ\')',
  'the environment of the host': 'fs.readFileSync(\'/proc/PID/environ\')',
  'the memory of the host': 'fs.openSync(\'/proc/PID/mem\', \'r+\')',
  'the parent process': 'fs.readFileSync(`/proc/${process.ppid}/environ`)',
  'writing into its folder': 'fs.writeFileSync(new URL(\'./x\', import.meta.url), \'x\')',
  'writing to /tmp': 'fs.writeFileSync(\'/tmp/adapter-was-here\', \'x\')',
  'writing into its index': 'fs.appendFileSync(new URL(import.meta.url), \'x\')',
  'a link out of its folder': 'fs.symlinkSync(\'/etc/passwd\', new URL(\'./link\', import.meta.url))',
  fetch: 'fetch(\'http://127.0.0.1:PORT/\')',
  'net': 'new Promise((resolve, reject) => net.connect(PORT, \'127.0.0.1\', () => resolve(\'connected\')).on(\'error\', reject))',
  'a unix socket': 'new Promise((resolve, reject) => net.connect(\'SOCKET\', () => resolve(\'connected\')).on(\'error\', reject))',
  'listening': 'new Promise((resolve, reject) => net.createServer().listen(0, () => resolve(\'listens\')).on(\'error\', reject))',
  'dgram': 'new Promise((resolve, reject) => dgram.createSocket(\'udp4\').on(\'error\', reject)' +
    '.send(\'x\', PORT, \'127.0.0.1\', (e) => e ? reject(e) : resolve(\'sent\')))',
  'dns': 'dns.promises.lookup(\'localhost\')',
  'dns by the resolver': 'dns.promises.resolve4(\'example.com\')',
  'child_process': 'child_process.execFileSync(\'/bin/true\')',
  'a fork bomb': 'child_process.fork(new URL(import.meta.url).pathname)',
  'worker_threads': 'new worker_threads.Worker(new URL(import.meta.url))',
  'killing the host': 'process.kill(PID, 0)',
  'killing its parent': 'process.kill(process.ppid, 0)',
  'killing by a name that was imported': 'import(\'node:process\').then(({ kill }) => kill(process.ppid, 0))',
  'killing as Node does': 'process._kill(PID, 0) || \'killed\'',
  'killing whoever is not there any more': 'child_process.ChildProcess.prototype.kill.call({ _handle: { kill: process._kill } }, 0)',
  'opening the inspector of the host': 'process._debugProcess(PID)',
  'the priority of the host': 'os.setPriority(PID, 19) ?? \'set\'',
  'its own priority': 'os.setPriority(19) ?? \'set\'',
  'process.binding': 'process.binding(\'fs\').open',
  'process._linkedBinding': 'process._linkedBinding(\'fs\')',
  'flags of V8': 'v8.setFlagsFromString(\'--allow-natives-syntax\') ?? \'set\'',
  'flags of V8 by a name that was imported': 'import(\'node:v8\').then((all) => all.setFlagsFromString(\'--expose-gc\') ?? \'set\')',
  'a snapshot of the heap in a file': 'v8.writeHeapSnapshot(\'/tmp/adapter.heapsnapshot\')',
  'another program in its place': 'process.execve(\'/bin/true\', [\'true\'], {})',
  'functions of the C library': 'process.getBuiltinModule(\'node:ffi\').dlopen(null, { getpid: { arguments: [], return: \'i32\' } })',
  'an end with a dump of its memory': 'process.abort()',
  'the files of the machine': 'fs.readdirSync(\'/\')',
  'a file that a thread opens': 'fs.promises.readFile(\'/etc/passwd\')',
  'the memory map of itself': 'fs.readFileSync(\'/proc/self/maps\')',
  'a variable of its environment': 'Object.keys(process.env)[0] ?? Promise.reject(new Error(\'there is none\'))',
  'a file of variables': 'process.loadEnvFile(\'/etc/environment\')',
  'the inspector': 'inspector.open(0)',
  'the inspector of itself': 'new inspector.Session().connect()',
  'eval': 'eval(\'1 + 1\')',
  'a function from a text': 'new Function(\'return 1\')()',
  'WebAssembly': 'WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))',
  'WASI': 'import(\'node:wasi\').then(({ WASI }) => new WASI({ version: \'preview1\' }))',
  'a native addon': 'process.dlopen({ exports: {} }, \'/x.node\')',
  'a report into a file': 'process.report.writeReport(\'/tmp/adapter-report.json\')',
  'node:sqlite': 'import(\'node:sqlite\')',
  'its options': 'process.permission.has(\'fs.write\') || Promise.reject(new Error(\'not permitted\'))',
  'another user': 'process.setuid(0) ?? \'set\'',
  'the user that it is': 'process.setuid(process.getuid()) ?? \'set\'',
  'a connection over QUIC': 'import(\'node:quic\')',
  'a file or a connection of the host': `Array.from({ length: 64 }, (_, fd) => fd).slice(3).filter((fd) => {
    try {
      const is = fs.fstatSync(fd)
      return is.isFile() || is.isSocket()
    } catch {
      return false
    }
  }).join() || Promise.reject(new Error('none is open'))`
}

const head = `
import fs from 'node:fs'
import net from 'node:net'
import dgram from 'node:dgram'
import dns from 'node:dns'
import child_process from 'node:child_process'
import worker_threads from 'node:worker_threads'
import inspector from 'node:inspector'
import os from 'node:os'
import v8 from 'node:v8'
${attempt}`

/** How processes are started, and the layers that they find on Linux, besides that of whoever is root. */
const ways: Record<string, { options: Partial<SandboxOptions>, layers: readonly Layer[] }> = {
  'with bubblewrap': { options: {}, layers: ['node-permissions', 'namespaces', 'landlock', 'seccomp'] },
  'without bubblewrap': { options: { bwrap: [] }, layers: ['node-permissions', 'landlock', 'seccomp'] }
}

for (const [way, { options, layers }] of Object.entries(ways)) {
  await t.test(`what an adapter tries is denied, and it goes on, ${way}`, (t) => tryAll(t, options, layers))
}

async function tryAll (t: Test, options: Partial<SandboxOptions>, layers: readonly Layer[]): Promise<void> {
  const server = createServer((socket) => socket.end('reached'))
  const local = createServer((socket) => socket.end('reached'))
  const socket = join(secrets, 'socket')
  await Promise.all([once(server.listen(0, '127.0.0.1'), 'listening'), once(local.listen(socket), 'listening')])
  t.teardown(() => [server, local].forEach((one) => one.close()))
  const port = String((server.address() as { port: number }).port)
  const filled = (code: string): string => code.replaceAll('PORT', port).replaceAll('SOCKET', socket).replaceAll('PID', String(process.pid))
  const fields = Object.entries(probes).map(([name, code]) => `${JSON.stringify(name)}: await attempt(async () => ${filled(code)})`)
  const { dispatch, sandbox } = await outpost(t, {
    head,
    dispatch: `return { id: '1', status: 'sent', probes: { ${fields.join(',\n')} } }`
  }, options)
  if (platform() === 'linux') t.same(sandbox.state(), { layers, gaps: [], processes: 0, resting: [] })
  const outcome = await dispatch()
  if (!('response' in outcome)) {
    t.fail(JSON.stringify(outcome))
    return
  }
  const reported = outcome.response['probes'] as Record<string, { reached?: string, denied?: string }>
  for (const name of Object.keys(probes)) {
    t.equal(reported[name]?.reached, undefined, `${name}: ${reported[name]?.denied ?? reported[name]?.reached ?? ''}`)
  }
  if (platform() === 'linux') t.same(sandbox.state(), { layers, gaps: [], processes: 1, resting: [] })
}

const accepted = 'return { id: \'1\', status: \'sent\' }'

/** What a process does to the one that watches it, and the words of the log about it. */
const attacks: Record<string, { dispatch: string, reported: RegExp, limit?: number, head?: string }> = {
  'garbage on the output of the frames': {
    dispatch: 'fs.writeSync(1, \'garbage that is no frame\'); await new Promise(() => {})',
    reported: /A frame of \d+ bytes was announced/
  },
  'a frame that is no JSON': {
    dispatch: 'fs.writeSync(1, Buffer.from([0, 0, 0, 2, 65, 65])); await new Promise(() => {})',
    reported: /A frame is no JSON/
  },
  'a frame that is cut by its end': {
    dispatch: 'fs.writeSync(1, Buffer.from([0, 0, 0, 9, 123])); process.exit(0)',
    reported: /ended by itself|in the middle of a frame/
  },
  'an unknown call': {
    dispatch: 'frame({ ask: 1_000, name: \'exec\', args: {} }); await new Promise(() => {})',
    reported: /Call 1000 came where|There is no call/
  },
  'an answer to nothing': { dispatch: 'frame({ to: 9_999, value: 1 }); await new Promise(() => {})', reported: /nobody waits for/ },
  'a note that cannot be read': {
    dispatch: 'frame({ note: \'log\', args: { call: -1 } }); await new Promise(() => {})',
    reported: /cannot be read/
  },
  'a million handles': {
    dispatch: 'for (let i = 0; i < 1e6; i++) context.onRefusal(() => {}); await new Promise(() => {})',
    reported: /cannot be read|memory|ended by itself|does not answer any more/,
    limit: 8_000
  },
  'a flood of its standard error': {
    dispatch: 'for (;;) fs.writeSync(2, \'x\'.repeat(60_000))',
    reported: /flooded its standard error/,
    limit: 5_000
  },
  'a closed output': { dispatch: 'fs.closeSync(1); await new Promise(() => {})', reported: /closed its output|does not answer any more/ },
  'four gigabytes': {
    dispatch: 'const all = []; for (;;) { all.push(Buffer.alloc(50_000_000, 1)); await new Promise((r) => setTimeout(r, 20)) }',
    reported: /MiB of memory|ended by itself/,
    limit: 15_000
  },
  'a heap without end': {
    dispatch: 'const all = []; for (;;) all.push({ all: [...all.slice(-10)] })',
    reported: /ended by itself/,
    limit: 20_000
  },
  'waiting by Atomics': {
    dispatch: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
    reported: /does not answer any more/,
    limit: 500
  },
  'signals that it ignores': {
    dispatch: 'process.on(\'SIGTERM\', () => {}); process.title = \'node scripts/serve.ts\'; for (;;);',
    reported: /does not answer any more/,
    limit: 500
  }
}

/** Sends whatever it likes as a frame. */
const framing = `import fs from 'node:fs'
const frame = (message) => {
  const json = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(4)
  head.writeUInt32BE(json.length)
  fs.writeSync(1, Buffer.concat([head, json]))
}`

for (const [way, { options }] of Object.entries(ways)) {
  await t.test(`what an adapter does to its process ends that process alone, with a line of the log, ${way}`, (t) => attackAll(t, options))
}

async function attackAll (t: Test, options: Partial<SandboxOptions>): Promise<void> {
  const { dispatch, log } = await outpost(t, {
    head: `${framing}\n${actsOf(Object.entries(attacks).map(([name, { dispatch: code }]) => [name, code]))}`,
    service: 'checkpoint: true,',
    dispatch: `await acts[context.reference]?.(context); ${accepted}`
  }, options)
  for (const [name, { reported, limit = 3_000 }] of Object.entries(attacks)) {
    // The limits are for the attack, not for the start of a process on a busy machine.
    await dispatch({ account: name })
    const before = log.lines.length
    const attacked = dispatch({ account: name, reference: name }, { limit })
    const other = await dispatch({ account: 'company 2' })
    t.equal(other.outcome, 'accepted', `${name}: the others go on`)
    t.equal((await attacked).outcome, 'unavailable', name)
    const errors = (): string[] => log.lines.slice(before).filter(({ level }) => level === 'error').map(({ message }) => message)
    const ended = (): boolean =>
      errors().some((message) => message.startsWith('the process of an adapter ended:') && reported.test(message))
    for (let waited = 0; waited < 600 && !ended(); waited++) await pause(100)
    t.ok(ended(), `${name}: ${JSON.stringify(errors())}`)
    t.equal((await dispatch({ account: name })).outcome, 'accepted', `${name}: it is started again`)
  }
}

/** What an adapter does in a call that its process need not survive, by name. */
const misbehaviours: Record<string, string> = {
  'it ends its process': 'process.exit(0)',
  'it ends its process as Node does': 'process.reallyExit(0)',
  'it fails, and nobody awaits that': 'void Promise.reject(new Error(\'nobody waits\')); await new Promise((r) => setTimeout(r, 20))',
  'it throws from a timer': 'setTimeout(() => { throw new Error(\'from a timer\') }, 5); await new Promise((r) => setTimeout(r, 50))',
  'it never ends': 'await new Promise(() => {})',
  'it blocks for longer than its call': 'const end = Date.now() + 5_000; while (Date.now() < end);',
  'it answers nothing': 'return null',
  'it answers 20 MiB': 'return { id: \'x\'.repeat(20 * 2 ** 20), status: \'sent\' }',
  'it answers 5,000 objects inside each other':
    'let deep = {}; for (let i = 0; i < 5_000; i++) deep = { deep }; return { id: \'1\', status: \'sent\', deep }',
  'it answers with another prototype': 'return JSON.parse(\'{"id":"1","status":"sent","__proto__":{"admin":true}}\')',
  'it answers what throws when it is read': 'return { id: \'1\', get status () { throw new Error(\'read\') } }',
  'it changes what all objects have':
    'Object.prototype.polluted = 1; Array.prototype.map = () => [\'owned\']; JSON.stringify = () => \'"owned"\'; return { id: \'1\' }',
  'it writes 20,000 lines into the log': 'for (let i = 0; i < 20_000; i++) context.log.info({}, `line ${i}`)',
  'it asks for 20,000 things at once': 'await Promise.all(Array.from({ length: 20_000 }, (_, i) => context.state.get(`k${i}`)))',
  'it keeps 10 MiB': 'await context.state.put(\'big\', { big: \'x\'.repeat(10 * 2 ** 20) })',
  'it asks for a host that it has not declared': 'await context.http.get(\'https://evil.example.com/x\', {}, Type.String())',
  'it asks for this machine': 'await context.http.get(\'https://127.0.0.1/x\', {}, Type.String())'
}

for (const [way, { options }] of Object.entries(ways)) {
  await t.test(`what an adapter does in its own calls harms no other company, ${way}`, async (t) => {
    const { dispatch, sandbox } = await outpost(t, {
      head: actsOf(Object.entries(misbehaviours)),
      dispatch: `const act = acts[context.reference]; return act === undefined ? { id: '1', status: 'sent' } : await act(context)`
    }, options)
    for (const name of Object.keys(misbehaviours)) {
      await dispatch({ account: name })
      const [, other] = await Promise.all([
        dispatch({ account: name, reference: name }, { limit: 2_000 }),
        dispatch({ account: 'company 2' })
      ])
      t.equal(other.outcome, 'accepted', name)
      t.equal((await dispatch({ account: 'company 2' })).outcome, 'accepted', `${name}: and afterwards`)
    }
    if (platform() === 'linux') t.same(sandbox.state().gaps, [])
  })
}
