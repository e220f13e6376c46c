import t from 'tap'
import { compiled, made, wordsOf } from './support.ts'

const data = { number: 'F-1', total: '120.00', bankDetails: { iban: 'FR14 2004 1010 0505 0001 3M02 606', accountHolder: 'Ada' } }
const codeOf = (more: object) => {
  const [block] = compiled([{ code: { epc: true } }], { currency: 'EUR' }).resolve({ ...data, ...more }).body
  return block?.kind === 'code' ? JSON.stringify(block.modules()) : undefined
}

void t.test('the code of an invoice asks for what is still due, and for nothing once it is paid', (t) => {
  t.equal(codeOf({ amountDue: '20.00' }), codeOf({ total: '20.00' }))
  t.not(codeOf({ amountDue: '20.00' }), codeOf({}))
  t.equal(codeOf({ amountDue: '0.00' }), undefined)
  t.end()
})

void t.test('the caption of a code goes with it, and says nothing twice', async (t) => {
  const template = compiled([
    { code: { epc: true, alt: 'Scan to pay', caption: 'Scan to pay' } },
    { code: { code128: 'number', caption: 'Invoice' } }
  ])
  t.equal((await made('text', template, data)).text, '[Scan to pay]\nInvoice')
  t.equal((await made('text', template, { ...data, bankDetails: { iban: 'FR00' } })).text, 'Invoice')
  t.equal(await wordsOf(await made('pdf', template, data)), 'Scan to pay Invoice')
})
