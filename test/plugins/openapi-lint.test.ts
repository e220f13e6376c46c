import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import t from 'tap'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startService } from '../support/service.ts'

// Redocly takes example.com for a forgotten one.
const service = await startService(t, { config: { publicUrl: 'https://dispatch.acme.test' }, replacements: { renderer: quickRenderer } })
const read = async (name: string): Promise<any> => (await service.send('GET', `/openapi/${name}.json`, {}, null)).body
const latest = await read('1.1.0')

const config = await createConfig({ extends: ['recommended'] })
const redocly = async (document: unknown): Promise<string[]> => {
  const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
}
const linter = new spectral.Spectral()
// Redocly has looked at the examples in a tenth of the time.
linter.setRuleset({ extends: [rulesets.oas], rules: { 'oas3-valid-media-example': 'off' } })
const spectrally = async (document: any): Promise<string[]> => {
  const found = await linter.run(document)
  return found.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`)
}

await t.test('Redocly finds nothing in the OpenAPI document of the latest version', async (t) => {
  t.same(await redocly(latest), [])
})

await t.test('nor does Spectral', async (t) => {
  t.same(await spectrally(latest), [])
})

await t.test('nor do they in that of an earlier version, of which only the part for those who send is another one', async (t) => {
  for (const part of ['manage', 'operate']) {
    const [before, now] = [await read(`1.0.1/${part}`), await read(`1.1.0/${part}`)]
    t.strictSame({ ...before, info: null }, { ...now, info: null }, part)
  }
  const sending = await read('1.0.1/send')
  t.notSame(Object.keys(sending.webhooks), Object.keys(latest.webhooks))
  t.same(await redocly(sending), [])
  t.same(await spectrally(sending), [])
})
