import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { testDatabase } from '../support/postgres.ts'
import { silentProxy } from '../support/silent-proxy.ts'
import { dataDirectory, send, startProcess } from './support/process.ts'

void t.test('a service that starts without its database waits for it, says so, and can be stopped meanwhile', async (t) => {
  const proxy = await silentProxy(t, (await testDatabase(t)).url)
  proxy.silence()
  const env = { DATABASE_URL: proxy.url, DISPATCH_MASTER_KEY: randomBytes(32).toString('base64') }
  const [one, other] = [
    startProcess(t, { dataDirectory: dataDirectory(t), env }),
    startProcess(t, { dataDirectory: dataDirectory(t), env })
  ]
  for (const service of [one, other]) while (!service.stdout().includes('waiting for the database')) await pause(20)

  process.kill(other.pid, 'SIGTERM')
  t.equal(await other.ended, 0)
  t.equal(other.stderr(), '')

  proxy.speak()
  await one.ready()
  t.equal((await send(one.url(), 'GET', '/api/v1/credits')).status, 200)
  t.equal(one.stdout().split('waiting for the database').length - 1, 1, 'it says so once in ten seconds')
  process.kill(one.pid, 'SIGTERM')
  t.equal(await one.ended, 0)
})
