/** An HTTPS vendor on loopback that accepts whatever it gets, at once. */
import { createVendor } from '../../../core/packages/conformance/vendor/vendor.ts'
import { whenStopped } from './stop.ts'

/** What is needed to call it: the authority that its certificates come from, and its port. */
export type QuickVendor = { ca: string, port: number }

const vendor = await createVendor()
vendor.answer(() => {
  vendor.requests.length = 0
  return { json: { sid: 'SM0123456789', id: 'message-1', status: 'queued', price: null } }
})
whenStopped(() => vendor.close())
process.send?.({ ca: vendor.ca, port: vendor.port } satisfies QuickVendor)
