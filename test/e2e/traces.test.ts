import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startCollector } from '../plugins/support/collector.ts'
import { seededEnvironment } from '../support/service.ts'
import { dataDirectory, send, startReady } from './support/process.ts'

await t.test('the last traces of a process reach their collector, and one that is silent does not hold it up', async (t) => {
  const collector = await startCollector(t)
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    silent.close()
    silent.closeAllConnections()
  })
  const { port } = silent.address() as AddressInfo
  const env = await seededEnvironment(t)
  for (const url of [collector.url, `http://127.0.0.1:${port}`]) {
    const service = await startReady(t, { dataDirectory: dataDirectory(t), env: { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url } })
    await send(service.url(), 'POST', '/api/sms', { sms: { phoneNumber: '+33612345678', message: 'Hello.' } })
    process.kill(service.pid, 'SIGTERM')
    // A service that waits for a collector without end does not end.
    t.equal(await service.ended, 0)
    const givenUp = service.log().filter(({ msg }) =>
      msg === 'spans could not be exported' || msg === 'the last spans were not taken in time'
    )
    t.equal(givenUp.length > 0, url !== collector.url, 'it tells of spans that nobody took')
  }
  const names = collector.spans.map(({ name }) => name)
  for (const name of ['POST /api/sms', 'dispatch sms', 'step sms', 'call simulator']) t.ok(names.includes(name), name)
})
