import { execFile } from 'node:child_process'
import { globSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { contains, has } from '../support/matching.ts'
import { dataDirectory, root, startReady } from './support/process.ts'

/** The commands of the section of the README, as one would type them. */
const page = readFileSync(join(root, 'README.md'), 'utf8')
const [, section = ''] = /^## An adapter from the marketplace\n[^]*?^```sh\n([^]*?)^```$/m.exec(page) ?? []
const commands = section.split(/^(?=npm|curl)/m)

await t.test('an adapter of the demo catalog is installed, configured and called with the four commands of the README', async (t) => {
  const folder = dataDirectory(t)
  // As in a checkout that has packed none yet.
  rmSync(join(root, 'node_modules/.cache/dispatch-adapters'), { recursive: true, force: true, maxRetries: 10 })
  const service = await startReady(t, { dataDirectory: folder, env: { DISPATCH_DEMO_CATALOG: 'on', DISPATCH_LOG_LEVEL: 'debug' } })
  const env = { ...process.env, DISPATCH_DATA_DIR: folder, INIT_CWD: undefined }
  const run = async (command = ''): Promise<string> =>
    (await promisify(execFile)('sh', ['-c', command.replaceAll('http://127.0.0.1:3000', service.url())], { cwd: root, env })).stdout
  // It begins beside the first requests, and goes on for as long as there are adapters.
  const said = async (): Promise<string> =>
    (await promisify(execFile)('sh', ['-c', 'npm run -s marketplace -- list'], { cwd: root, env })).stderr
  let progress = ''
  while (!progress.includes('is being built')) progress = await said()
  contains(t, progress, /^The catalog .*demo-catalog is being built: \d+ of \d+ adapters are in it\. The others follow by themselves\.$/m)
  const isPacked = (): boolean => service.log().some(({ adapter }) => adapter === 'resend')
  while (!isPacked()) await pause(100)
  t.notOk(service.log().some(({ msg }) => msg === 'a catalog was not read'), 'it can be read before something is in it')

  t.equal(commands.length, 4)
  const [list, install, configure, dispatch] = commands
  while (!/^resend /m.test(await run(list))) await pause(100)
  contains(t, await run(install), /^resend \d+\.\d+\.\d+ \(installed\): email; reaches api\.resend\.com$/m)
  // The service follows what the command has installed; on a busy machine not at once.
  let configured = JSON.parse(await run(configure))
  while (configured.error === 'not_found') configured = JSON.parse(await run(configure))
  has(t, configured, { code: 'resend', settings: { apiKey: { set: true } } })
  const answer = JSON.parse(await run(dispatch))
  // The key is invented: Resend refuses it, or cannot be reached from here.
  t.ok(['authentication_error', 'provider_unavailable', 'outcome_unknown'].includes(answer.error), JSON.stringify(answer))

  const tarball = globSync('*resend*.tgz', { cwd: join(folder, 'demo-catalog') }).map((name) => join(folder, 'demo-catalog', name))[0] ?? ''
  const { mtimeMs } = statSync(tarball)
  process.kill(service.pid, 'SIGTERM')
  t.equal(await service.ended, 0)
  const again = await startReady(t, { dataDirectory: folder, env: { DISPATCH_DEMO_CATALOG: 'on', DISPATCH_LOG_LEVEL: 'debug' } })
  await pause(3_000)
  t.notOk(again.log().some(({ adapter }) => adapter === 'resend'), 'what is packed is not packed again')
  t.equal(statSync(tarball).mtimeMs, mtimeMs)
})
