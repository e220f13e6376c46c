import t from 'tap'
import { placeLine } from '../place-line.ts'

await t.test('a city, a state and a postal code stand in the order of their country', (t) => {
  for (const [country, city, state, postalCode, line] of [
    ['FR', 'Paris', '', '75002', '75002 Paris'],
    ['FR', 'Paris', '', '75008 CEDEX 08', '75008 Paris CEDEX 08'],
    ['DE', 'Berlin', '', '10115', '10115 Berlin'],
    ['IT', 'Roma', 'RM', '00187', '00187 Roma RM'],
    ['GB', 'London', '', 'SW1A1AA', 'London SW1A 1AA'],
    ['IE', 'Dublin', '', 'D02AF30', 'Dublin D02 AF30'],
    ['AU', 'Sydney', 'NSW', '2000', 'Sydney NSW 2000'],
    ['CA', 'Ottawa', 'ON', 'K1A 0B1', 'Ottawa ON K1A 0B1'],
    ['US', 'San Francisco', 'CA', '94107', 'San Francisco CA 94107'],
    ['IN', 'New Delhi', '', '110001', 'New Delhi 110001'],
    ['SG', 'Singapore', '', '018956', 'Singapore 018956'],
    ['AE', 'Dubai', '', '', 'Dubai'],
    ['GI', 'Gibraltar', '', 'GX11 1AA', 'Gibraltar GX11 1AA']
  ] as const) {
    t.equal(placeLine({ country, city, state, postalCode }), line)
  }
  t.end()
})

await t.test('nothing that is given is left out, and an unknown country has the code before the city', (t) => {
  t.equal(placeLine({ country: 'FR', city: 'Paris', state: 'Île-de-France', postalCode: '75002' }), '75002 Paris Île-de-France')
  t.equal(placeLine({ country: 'AE', city: 'Dubai', postalCode: '00000' }), 'Dubai 00000')
  t.equal(placeLine({ country: 'Elsewhere', city: 'X', state: 'S', postalCode: '12' }), '12 X S')
  t.equal(placeLine({ city: 'X', postalCode: '12' }), '12 X')
  t.equal(placeLine({}), '')
  t.end()
})
