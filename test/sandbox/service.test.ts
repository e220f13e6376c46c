import { globSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import t from 'tap'
import { dataDirectory, gone, send, startReady } from '../e2e/support/process.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, seededEnvironment, shippedProviders, startService } from '../support/service.ts'

await t.test('a service whose providers run in processes of their own answers as any other', async (t) => {
  const service = await startService(t, { config: { sandbox: 'all' }, replacements: { renderer: quickRenderer } })
  const dispatch = (reference: string): ReturnType<typeof service.send> =>
    service.send('POST', '/api/invoicing', { body: invoiceRequest({ number: crypto.randomUUID() }, { invoicing: { reference } }) })

  const accepted = await dispatch('plain')
  t.equal(accepted.status, 200, JSON.stringify(accepted.body))
  const refused = await dispatch('reject')
  has(t, refused, { status: 422, body: { error: 'provider_error', details: [{ code: 'declined' }] } })
  const { body: providers } = await service.send('GET', '/api/v1/providers')
  t.equal(providers.data.length, globSync('*/package.json', { cwd: shippedProviders }).length)

  const { body: { sandbox } } = await service.send('GET', '/healthz')
  t.ok(sandbox.layers.includes('node-permissions'))
  t.ok(sandbox.processes >= 1)
  t.same(sandbox.resting, [])
})

await t.test('without the setting nothing runs outside, and nothing is said of it', async (t) => {
  const service = await startService(t, { replacements: { renderer: quickRenderer } })
  t.notOk('sandbox' in (await service.send('GET', '/healthz')).body)
})

await t.test('no process of an adapter outlives a service that is killed', {
  skip: platform() === 'linux' ? false : 'the children of a process are read from /proc'
}, async (t) => {
  const env = { ...await seededEnvironment(t), DISPATCH_SANDBOX: 'all' }
  const service = await startReady(t, { dataDirectory: dataDirectory(t), env })
  // The processes that told the manifests have ended; one is started for the first dispatch.
  t.equal((await send(service.url(), 'POST', '/api/invoicing', invoiceRequest())).status, 200)
  t.equal((await send(service.url(), 'POST', '/api/invoicing', invoiceRequest())).status, 200)
  has(t, (await send(service.url(), 'GET', '/healthz')).body, { sandbox: { processes: 1 } })
  const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim().split(' ').map(Number)
  t.ok(children.length >= 1)
  process.kill(service.pid, 'SIGKILL')
  await service.ended
  await gone(...children)
})
