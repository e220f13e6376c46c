import t from 'tap'
import { clientPointerOf } from '../request/provider-request.ts'

const at = (field: string): string => `/client/${field}`

await t.test('a place of what a provider is asked is told as a place of what the client wrote', (t) => {
  t.equal(clientPointerOf('postal', '/postal/recipient', at), '/client/recipient')
  t.equal(clientPointerOf('postal', '/postal/recipient/lines/0', at), '/client/recipient/lines/0')
  t.equal(clientPointerOf('sms', '/settings', at), '/client/settings')
  t.equal(clientPointerOf('sms', '/settings/from', at), '/client/settings/from')
  t.equal(clientPointerOf('sms', '/settings/from/0', at), '/client/settings/from/0')
  t.equal(clientPointerOf('invoicing', '/data/lines/0/total', at), '/template/data/lines/0/total')
  t.equal(clientPointerOf('invoicing', '/metadata/orderId', at), '/metadata/orderId')
  t.end()
})
