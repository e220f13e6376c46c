import t from 'tap'
import { deliveryMoves, deliveryServices, deliveryStatusesOf, eventServices, isSettled, mayMove, originsOf } from '../../../core/contract/delivery.ts'

await t.test('the delivery statuses are those of the contract', (t) => {
  t.same(deliveryStatusesOf('esign'), ['started', 'viewed', 'signed', 'declined', 'completed', 'expired', 'cancelled'])
  t.same(deliveryStatusesOf('postal'), ['accepted', 'printed', 'mailed', 'in_transit', 'delivered', 'returned', 'failed', 'cancelled'])
  t.same(deliveryStatusesOf('sms'), ['queued', 'sent', 'delivered', 'failed'])
  t.same(deliveryStatusesOf('invoicing'), ['received', 'open', 'accepted', 'rejected', 'uncollectible', 'paid', 'void'])
  t.same(eventServices, ['esign', 'postal'], 'no others have events')
  t.end()
})

for (const service of deliveryServices) {
  await t.test(`${service}: nothing moves backward, in a circle, or to where it is`, (t) => {
    const order = deliveryStatusesOf(service)
    for (const [index, from] of order.entries()) {
      t.ok(mayMove(service, null, from), 'the first status may be any')
      for (const to of order.slice(0, index + 1)) t.notOk(mayMove(service, from, to), `${from} → ${to}`)
    }
    t.notOk(mayMove(service, null, 'constructor'))
    t.notOk(mayMove(service, 'nowhere', order[0] ?? ''))
    t.same(originsOf(service, null), [])
    t.end()
  })
}

await t.test('a letter that was delivered may come back; a signature that ended is the end', (t) => {
  t.ok(mayMove('postal', 'delivered', 'returned'))
  t.same(Object.entries(deliveryMoves.postal).filter(([, next]) => next.length === 0).map(([status]) => status), ['returned', 'failed', 'cancelled'])
  t.same(deliveryStatusesOf('esign').filter((status) => isSettled('esign', status)), ['declined', 'completed', 'expired', 'cancelled'])
  t.same(deliveryStatusesOf('postal').filter((status) => isSettled('postal', status)), ['delivered', 'returned', 'failed', 'cancelled'])
  t.same(deliveryStatusesOf('sms').filter((status) => isSettled('sms', status)), ['delivered', 'failed'])
  t.same(deliveryStatusesOf('invoicing').filter((status) => isSettled('invoicing', status)), ['accepted', 'rejected', 'paid', 'void'])
  t.ok(mayMove('esign', 'declined', 'completed'), 'some vendors let a signer who has refused sign all the same')
  t.notOk(isSettled('esign', null))
  t.same(originsOf('postal', 'returned'), ['accepted', 'printed', 'mailed', 'in_transit', 'delivered'])
  t.end()
})
