import { refused, unavailable } from '@dispatch/core/provider'
import type { Test } from 'tap'
import { createVendor, vendorNetwork } from '../../../core/packages/conformance/vendor/vendor.ts'
import { until } from '../../core/work/support.ts'
import { chainBody } from '../../support/chains.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { type Reading, readingOf } from '../../support/reading.ts'
import { type Answer, invoiceRequest, startService, type TestService } from '../../support/service.ts'
import { testProviders } from './providers.ts'

export type Path = readonly ('invoicing' | 'esign' | 'postal' | 'sms')[]

/** A service with a provider of archives, and what is done there later. */
export type DeferredStage = TestService & Reading & {
  /** What the archive does with the next document. */
  archive: (does: 'take' | 'refuse' | 'close') => void
  /** The digests of what it has taken since it was last told what to do. */
  archived: string[]
  ask: (path: Path, deferred: readonly object[], more?: object) => Promise<Answer>
  /** Asks, and answers the id of the dispatch. */
  begun: (path: Path, deferred: readonly object[], more?: object) => Promise<string>
  /** Has the simulator send the event of a status. */
  tell: (dispatchId: string, status: string) => Promise<Answer>
  lastStep: (dispatchId: string) => Promise<any>
  /** Waits until the last deferred step of a dispatch is in a state. */
  becomes: (dispatchId: string, state: string) => Promise<void>
}

/** What is deferred: an upload to the archive, or an e-mail of the simulator's. */
export const upload = (on: string): object => ({ on, service: 'upload', providerName: 'archive' })
export const mail = (on: string, to: string): object => ({
  on,
  service: 'email',
  from: 'demo@example.com',
  to,
  subject: on,
  body: 'See {{ generatedDocument.url }}'
})

export async function deferredStage (t: Test): Promise<DeferredStage> {
  const providers = await testProviders(t)
  const archived: string[] = []
  let does = 'take'
  await providers.add('archive', { of: 'upload', service: 'idempotency: { kind: \'none\' }' }, ({ document }: any, { reference }) => {
    if (does === 'close') throw unavailable('Closed.')
    if (does === 'refuse') throw refused('full', 'The archive is full.')
    archived.push(document.sha256)
    return Promise.resolve({ id: reference, status: 'stored' })
  })
  const receiver = await createVendor()
  t.teardown(receiver.close)
  receiver.answer({ status: 200 })
  const service = await startService(t, {
    config: { providerDirectories: providers.directories, prices: { upload: 2 } },
    replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) }
  })
  const { send } = service
  await send('PUT', '/api/v1/company/providers/archive', { body: { settings: {} } })
  const reading = readingOf(service)
  const ask: DeferredStage['ask'] = (path, deferred, more = {}) =>
    send('POST', `/api/${path.join('/')}`, {
      body: chainBody(path, invoiceRequest()['template'], { deferred, callbackUrl: 'https://receiver.example.com/hook', ...more })
    })
  const lastStep = async (dispatchId: string): Promise<any> => (await reading.dispatch(dispatchId)).steps.at(-1)
  return {
    ...service,
    ...reading,
    archive (what) {
      does = what
      archived.length = 0
    },
    archived,
    ask,
    async begun (...given) {
      const { body } = await ask(...given)
      if (body.dispatchId === undefined) throw new Error(JSON.stringify(body))
      return body.dispatchId
    },
    tell: (dispatchId, status) => send('POST', '/api/v1/simulator/events', { body: { dispatchId, status } }),
    lastStep,
    becomes: (dispatchId, state) => until(`it is ${state}`, async () => (await lastStep(dispatchId)).deferredState === state)
  }
}
