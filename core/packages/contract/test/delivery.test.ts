import t from 'tap'
import { postal } from '../../services/postal/index.ts'
import { canTransition, deferringServices, deliveryMarksOf, deliveryServices, deliveryStatusesOf, isFinalDeliveryStatus,
  originsOf } from '../delivery.ts'

await t.test('the delivery statuses are those of the contract', (t) => {
  t.same(deliveryStatusesOf('esign'), ['started', 'viewed', 'signed', 'declined', 'completed', 'expired', 'failed', 'cancelled'])
  t.same(deliveryStatusesOf('postal'), ['accepted', 'printed', 'mailed', 'in_transit', 'delivered', 'returned', 'failed', 'cancelled'])
  t.same(deliveryStatusesOf('sms'), ['queued', 'sent', 'delivered', 'failed'])
  t.same(deliveryStatusesOf('invoicing'), [
    ...['received', 'made_available', 'taken_charge_of', 'open', 'suspended', 'disputed', 'partly_accepted', 'accepted', 'rejected'],
    ...['partly_paid', 'uncollectible', 'paid', 'void']
  ])
  t.same(deliveryStatusesOf('email'), ['delivered', 'bounced', 'failed'])
  t.same(deliveryStatusesOf('upload'), ['processing', 'available', 'failed', 'deleted'])
  t.same(deliveryMarksOf('email'), ['opened', 'clicked', 'complained'])
  for (const service of deliveryServices.filter((name) => name !== 'email')) t.same(deliveryMarksOf(service), [], service)
  t.same(deliveryServices, ['esign', 'postal', 'sms', 'email', 'upload', 'invoicing'])
  t.same(deferringServices, ['esign', 'postal'], 'steps are deferred until events of these alone')
  t.end()
})

for (const service of deliveryServices) {
  await t.test(`${service}: nothing moves backward, in a circle, or to where it is`, (t) => {
    const order = deliveryStatusesOf(service)
    for (const [index, from] of order.entries()) {
      t.ok(canTransition(service, null, from), 'the first status may be any')
      for (const to of order.slice(0, index + 1)) t.notOk(canTransition(service, from, to), `${from} → ${to}`)
    }
    t.notOk(canTransition(service, null, 'constructor'))
    t.notOk(canTransition(service, 'nowhere', order[0] ?? ''))
    t.same(originsOf(service, null), [])
    t.end()
  })
}

await t.test('a letter that was delivered may come back; a signature that ended is the end', (t) => {
  t.ok(canTransition('postal', 'delivered', 'returned'))
  t.same(Object.entries(postal.delivery.transitions).filter(([, next]) => next.length === 0).map(([status]) => status), [
    'returned',
    'failed',
    'cancelled'
  ])
  t.same(deliveryStatusesOf('esign').filter((status) => isFinalDeliveryStatus('esign', status)), [
    'declined',
    'completed',
    'expired',
    'failed',
    'cancelled'
  ])
  t.same(deliveryStatusesOf('postal').filter((status) => isFinalDeliveryStatus('postal', status)), [
    'delivered',
    'returned',
    'failed',
    'cancelled'
  ])
  t.same(deliveryStatusesOf('sms').filter((status) => isFinalDeliveryStatus('sms', status)), ['delivered', 'failed'])
  t.same(deliveryStatusesOf('invoicing').filter((status) => isFinalDeliveryStatus('invoicing', status)), [
    'accepted',
    'rejected',
    'paid',
    'void'
  ])
  t.ok(canTransition('invoicing', 'accepted', 'paid'), 'what a platform tells of the payment is taken, though nobody asks for it')
  t.same(originsOf('invoicing', 'partly_paid'), [
    ...['received', 'made_available', 'taken_charge_of', 'open', 'suspended', 'disputed', 'partly_accepted', 'accepted']
  ])
  t.ok(canTransition('esign', 'declined', 'completed'), 'some vendors let a signer who has refused sign all the same')
  t.notOk(isFinalDeliveryStatus('esign', null))
  t.same(originsOf('postal', 'returned'), ['accepted', 'printed', 'mailed', 'in_transit', 'delivered'])
  t.end()
})
