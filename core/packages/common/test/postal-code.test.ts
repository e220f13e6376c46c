import t from 'tap'
import { readPostalCode } from '../postal-code.ts'

await t.test('a postal code in any usual writing is the code of its country', (t) => {
  for (const [country, given, code] of [
    ['IE', 'D02AF30', 'D02 AF30'],
    ['GB', 'SW1A1AA', 'SW1A 1AA'],
    ['GB', 'sw1a 1aa', 'SW1A 1AA'],
    ['GB', 'BFPO 57', 'BFPO 57'],
    ['NL', '1012ab', '1012 AB'],
    ['CA', 'k1a0b1', 'K1A 0B1'],
    ['IN', '110 001', '110001'],
    ['FR', '75 008', '75008'],
    ['FR', '75008 cedex 08', '75008 CEDEX 08'],
    ['GP', '97110 CEDEX', '97110 CEDEX'],
    ['JP', '1000001', '100-0001'],
    ['JP', '〒100-0001', '100-0001'],
    ['JP', '１００－０００１', '100-0001'],
    ['JP', '１００−０００１', '100-0001'],
    ['JP', '100ー0001', '100-0001'],
    ['MX', 'C.P. 06000', '06000'],
    ['LI', 'FL 9490', 'FL-9490'],
    ['PL', '00001', '00-001'],
    ['US', '94107 1234', '94107-1234'],
    ['US', '941071234', '94107-1234'],
    ['BR', '01310100', '01310-100'],
    ['IR', '1193653471', '11936-53471'],
    ['LV', '1010', 'LV-1010'],
    ['AD', '500', 'AD500'],
    ['AZ', 'AZ1000', 'AZ 1000'],
    ['AZ', '1000', '1000'],
    ['HT', 'HT 6110', 'HT6110'],
    ['HT', '6110', '6110'],
    ['CH', 'CH-8000', 'CH-8000'],
    ['LU', 'L-1234', 'L-1234'],
    ['DE', 'D 80331', 'D-80331'],
    ['FI', 'FIN-00100', 'FIN-00100'],
    ['XK', '10000', '10000']
  ] as const) {
    t.same(readPostalCode(given, country), { code, isKnown: true }, `${country} ${given}`)
    t.same(readPostalCode(code, country), { code, isKnown: true }, `${country} ${code} is written so`)
  }
  t.end()
})

await t.test('what may be a code stays as it is written', (t) => {
  for (const [country, given] of [['SA', '12345-6789'], ['GB', 'SW1A'], ['KR', '110051'], ['KR', '110-051'], ['SV', '1101'], ['GH',
    'GA-123-4567']] as const)
  {
    t.same(readPostalCode(` ${given} `, country), { code: given, isKnown: false }, `${country} ${given}`)
  }
  t.end()
})

await t.test('what is no code of the country is none', (t) => {
  for (const [country, given] of [['FR', '7500'], ['GB', '12345'], ['US', '1000'], ['BE', '10000'], ['JP', '10'], ['LU', 'B-1234'], ['CH',
    '8000 CEDEX'], ['FR', 'BFPO 57'], ['DE', '']] as const)
  {
    t.equal(readPostalCode(given, country), undefined, `${country} ${given}`)
  }
  t.end()
})
