import t from 'tap'
import { signatureOf } from '../../providers/ovhcloud/sign.ts'

await t.test('a request is signed as in the example of OVHcloud', (t) => {
  const keys = { applicationSecret: 'EXEgWIz07P0HYwtQDs7cNIqCiQaWSuHF', consumerKey: 'MtSwSrPpNjqfVSmJhLbPyr2i45lSwPU1' }
  const signed = signatureOf(keys, { method: 'GET', url: 'https://eu.api.ovh.com/1.0/domains/', body: '', time: 1_366_560_945 })
  t.equal(signed, '$1$d3705e8afb27a0d2970a322b96550abfc67bb798')
  t.end()
})
