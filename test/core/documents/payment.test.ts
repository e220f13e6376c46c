import t from 'tap'
import { compiled } from './support.ts'

const data = { number: 'F-1', total: '120.00', bankDetails: { iban: 'FR14 2004 1010 0505 0001 3M02 606', accountHolder: 'Ada' } }
const codeOf = (more: object) => {
  const [block] = compiled([{ code: { epc: true } }], { currency: 'EUR' }).resolve({ ...data, ...more }).body
  return block?.kind === 'code' ? JSON.stringify(block.modules) : undefined
}

void t.test('the code of an invoice asks for what is still due, and for nothing once it is paid', (t) => {
  t.equal(codeOf({ amountDue: '20.00' }), codeOf({ total: '20.00' }))
  t.not(codeOf({ amountDue: '20.00' }), codeOf({}))
  t.equal(codeOf({ amountDue: '0.00' }), undefined)
  t.end()
})
