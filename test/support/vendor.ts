import type { Test } from 'tap'
import type { Log } from '../../core/packages/common/log.ts'
import { createVendor, type Vendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { provesRefusal } from '../../core/packages/host/manifest/errors.ts'
import { createOwnDocuments } from '../../core/packages/vendor-io/documents/own-documents.ts'
import type { Http } from '../../core/packages/vendor-io/http/call.ts'
import { createHttp, type HttpOptions } from '../../core/packages/vendor-io/http/client.ts'
import type { Network, NetworkOptions } from '../../core/packages/vendor-io/network.ts'
import { createRedactor } from '../../core/packages/vendor-io/notes/redact.ts'
import { createProgress } from '../../core/packages/vendor-io/outcome/request-outcome.ts'
import { memoryLog, outside } from '../fixtures/providers/call.ts'

/** A vendor and a network that leads to it, both gone when the test ends. */
export async function vendorOf (t: Test, options: NetworkOptions = {}): Promise<{ vendor: Vendor, network: Network }> {
  const vendor = await createVendor()
  const network = vendorNetwork(vendor, options)
  t.teardown(async () => {
    await network.close()
    await vendor.close()
  })
  return { vendor, network }
}

/** The `http` of one call, at the point of no return and free to reach api.acme.test, unless told otherwise. */
export function httpOf (
  { transport: wire, accessTokens: tokens }: Pick<Network, 'transport' | 'accessTokens'>,
  more: Partial<HttpOptions> = {}
): Http {
  const log: Log = memoryLog()
  return createHttp({
    transport: wire,
    accessTokens: tokens,
    account: 'company 1',
    targets: { provider: 'acme', declared: ['api.acme.test'], chosen: [] },
    documents: outside().documents,
    own: createOwnDocuments({}),
    errors: { map: {} },
    provesRefusal: (status, body) => provesRefusal(more.errors?.refusals ?? [], status, body),
    notProcessed: [],
    keyed: false,
    progress: createProgress({ passed: true }),
    ended: new AbortController().signal,
    holds: () => true,
    limit: 10_000,
    log,
    redact: createRedactor([]),
    now: () => new Date('2026-03-14T09:30:00.000Z'),
    ...more
  })
}
