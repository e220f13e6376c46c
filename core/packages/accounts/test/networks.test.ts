import { clientKeyOf, isAddressAllowed, readNetwork } from '@dispatch/accounts'
import fc from 'fast-check'
import t from 'tap'

/** A list, who it lets in, and who stays out. */
const lists: [string[], string[], string[]][] = [
  [[], ['192.0.2.1', '2001:db8::1'], []],
  [
    ['192.0.2.0/24'],
    ['192.0.2.0', '192.0.2.255', '::ffff:192.0.2.7', '::ffff:c000:207'],
    ['192.0.3.0', '191.0.2.1', '::192.0.2.7', '2001:db8::1', '', 'unknown', '192.0.2.1:80', '192.0.2', '3221225985']
  ],
  [['192.0.2.7'], ['192.0.2.7'], ['192.0.2.6']],
  [['192.0.2.77/24'], ['192.0.2.1'], ['192.0.3.1']],
  [['0.0.0.0/0'], ['8.8.8.8'], ['2001:db8::1']],
  [['::/0'], ['2001:db8::1'], ['8.8.8.8', '::ffff:8.8.8.8']],
  [['2001:db8::/32', '10.0.0.0/8'], ['2001:db8:ffff::1', '10.1.2.3'], ['2001:db9::1', '11.0.0.1']],
  [['::ffff:10.0.0.0/104'], ['10.9.9.9', '::ffff:10.9.9.9'], ['11.0.0.1']],
  [['::192.0.2.0/120'], ['::192.0.2.7', '::c000:207'], ['192.0.2.7', '::ffff:192.0.2.7']],
  [['fe80::/10'], ['fe80::1%eth0'], ['fec0::1']]
]

for (const [list, listed, others] of lists) {
  void t.test(`a list of ${list.join(', ') || 'nothing'}`, (t) => {
    for (const address of listed) t.ok(isAddressAllowed(list, address), address)
    for (const address of others) t.notOk(isAddressAllowed(list, address), address)
    t.end()
  })
}

void t.test('a list that nobody can read lets nobody in', (t) => {
  t.notOk(isAddressAllowed(['everywhere'], '192.0.2.1'))
  t.end()
})

void t.test('what is no network is not read as one', (t) => {
  for (const text of ['', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/+8', '10.0.0.0/8 ', '010.0.0.0/8',
    '0x0a.0.0.0/8', '10/8', '10.0.0/24', 'fe80::1%eth0/64', 'example.com', '/8', '10.0.0.0/1e1'])
  {
    t.equal(readNetwork(text), undefined, text)
  }
  t.end()
})

void t.test('an address lies in each network that it begins, and in none of the other half', (t) => {
  fc.assert(fc.property(fc.ipV4(), fc.integer({ min: 1, max: 32 }), (address, bits) => {
    const other = flipped(address, bits - 1)
    return isAddressAllowed([`${address}/${bits}`], address) && isAddressAllowed([`${address}/${bits}`], `::ffff:${address}`) &&
      !isAddressAllowed([`${address}/${bits}`], other)
  }))
  t.end()
})

function flipped (address: string, bit: number): string {
  return address.split('.').map((part, index) => Number(part) ^ (Math.floor(bit / 8) === index ? 0x80 >> bit % 8 : 0)).join('.')
}

void t.test('clients are told apart by their IPv4 address, or by the /64 that they have of IPv6', (t) => {
  t.equal(clientKeyOf('192.0.2.1'), '192.0.2.1')
  t.equal(clientKeyOf('::ffff:192.0.2.1'), '192.0.2.1')
  t.equal(clientKeyOf('2001:db8:1:2:3:4:5:6'), clientKeyOf('2001:db8:1:2:ffff::'))
  t.not(clientKeyOf('2001:db8:1:2::1'), clientKeyOf('2001:db8:1:3::1'))
  t.equal(clientKeyOf('a text'), clientKeyOf('another'))
  t.end()
})
