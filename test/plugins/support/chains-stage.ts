import type { Format, Rendered } from '@dispatch/documents'
import type { ServiceName } from '@dispatch/services'
import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { createVendor, vendorNetwork } from '../../../core/packages/conformance/vendor/vendor.ts'
import { chainBody } from '../../support/chains.ts'
import { has } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { readingOf } from '../../support/reading.ts'
import { type Answer, invoiceRequest, startService } from '../../support/service.ts'
import { accepts, testProviders } from './providers.ts'

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A service whose chains run: the simulator, an issuer that makes its own documents at a vendor, and a texter. */
export async function startChains (t: Test) {
  const vendor = await createVendor()
  t.teardown(vendor.close)
  const providers = await testProviders(t)
  const document = ({ id }: { id: string }, { http }: any): Promise<unknown> =>
    http.download(`https://api.vendor.example/documents/${id}`, { filename: 'theirs.pdf' })
  await providers.add('issuer', {}, accepts, { document })
  await providers.add('texter', {
    of: 'sms',
    service: 'idempotency: { kind: \'none\' }',
    requestSettings: '{ route: Type.Optional(Type.String()) }'
  },
    ({ sms }: any, { reference, requestSettings }) =>
      Promise.resolve({ id: `text-${reference}`, status: 'sent', message: sms.message, route: requestSettings['route'] ?? null }))

  let made = 0
  /** Every document is another one. */
  const renderer = {
    ...quickRenderer,
    render: async <F extends Format>(job: { format: F }): Promise<Rendered<F>> =>
      ({ ...await quickRenderer.render(job as never), bytes: Buffer.from(`%PDF-1.7 ${++made}`) }) as unknown as Rendered<F>
  }
  const service = await startService(t, {
    config: { providerDirectories: providers.directories },
    replacements: { renderer, network: vendorNetwork(vendor) }
  })
  for (const code of ['issuer', 'texter']) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
  const { dispatch: read, outbox, timeline } = readingOf(service)

  const run = (path: readonly ServiceName[], more: Record<string, unknown> = {}): Promise<Answer> =>
    service.send('POST', `/api/${path.join('/')}`, { body: chainBody(path, invoiceRequest()['template'], more) })
  /** The digest of what the first link in a text leads to. */
  async function linked (text: string): Promise<string> {
    const [, token = ''] = /See https:\/\/dispatch\.example\.com(\/d\/[\w-]{48})$/.exec(text) ?? []
    const { status, body } = await service.send('GET', token, {}, null)
    return status === 200 ? sha256(body as string) : `${text}: ${status}`
  }

  /** What the simulator got for a step of a chain, as far as it is about the document. */
  const gotten: Partial<Record<ServiceName, (sent: any) => unknown>> = {
    invoicing: ({ document: { sha256 } }) => sha256,
    esign: ({ document: { sha256 } }) => sha256,
    postal: ({ document: { sha256 } }) => sha256,
    upload: ({ document: { sha256 } }) => sha256,
    email: async ({ email: { text }, attachments }) =>
      attachments.length === 1 && await linked(text) === attachments[0].sha256 ? attachments[0].sha256 : { text, attachments },
    sms: ({ sms: { message } }) => linked(message)
  }

  /** Runs the chains: each step gets the one document, in the order of the path. */
  async function allRun (t: Test, paths: readonly (readonly ServiceName[])[]): Promise<void> {
    const before = made
    for (let index = 0; index < paths.length; index += 20) {
      const answers = await Promise.all(
        paths.slice(index, index + 20).map(async (path) => ({ path, ...await run(path, { metadata: { orderId: 'A-1' } }) }))
      )
      const sent = new Map((await outbox()).map((entry) => [entry.response.id, entry]))
      for (const { path, status, body } of answers) {
        const name = path.join('/')
        t.equal(status, 200, name)
        t.strictSame(Object.keys(body), ['success', 'dispatchId', 'status', 'steps', 'generatedDocument', 'metadata', 'executionTime'],
          name)
        has(t, body, {
          success: true,
          status: 'succeeded',
          metadata: { orderId: 'A-1' },
          generatedDocument: { contentType: 'application/pdf', sha256: /^[0-9a-f]{64}$/ }
        }, name)
        t.strictSame(body.steps.map((step: any) => [step.service, step.status, step.providerName]),
          path.map((one) => [one, 'accepted', one === 'file' ? null : 'simulator']), name)
        t.strictSame(body.steps.map((step: any) => step.generatedDocument), path.map((_, position) =>
          position === 0 ? body.generatedDocument : null
        ), name)
        const got = await Promise.all(body.steps.filter((step: any) => step.service !== 'file').map((step: any) =>
          gotten[step.service as ServiceName]?.(sent.get(step.providerResponse.id))
        ))
        t.strictSame(got, path.filter((one) =>
          one !== 'file'
        ).map(() => body.generatedDocument.sha256), name)
      }
    }
    t.equal(made - before, paths.length, 'each was made once')
  }

  return { vendor, service, run, linked, read, outbox, timeline, allRun }
}
