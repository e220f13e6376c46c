import { type Json, readMailbox } from '@dispatch/common'

/** What a value means. Of a postal address, the parts belong together. */
export type Kind = 'text' | 'mailbox' | 'address' | 'phone' | 'day' | 'filename' | 'location'

/**
 * What a value is made for. `mark`: a text of ASCII that no other value has, by which it is found again; a value may need several. `own`:
 * the value of the fixture. `max`: characters.
 */
export type Making = { mark: (part?: number) => string, own: Json | undefined, index: number, max: number }

type Make = (making: Making) => Json | undefined

/** A day, and times that are another day elsewhere. */
const days = ['2026-11-26T00:00:00+14:00', '2027-01-31T23:59:59-11:00', '2027-03-28', '2026-12-31T00:00:00Z']

/** The values of each kind. The first one is plain: where it does not reach the vendor, the provider does not use the place. */
export const awkward: Readonly<Record<Kind, readonly Make[]>> = {
  text: [
    ({ mark }) => mark(),
    ({ mark }) => `${mark()} "a" 'b' \\ c`,
    ({ mark }) => `${mark()} <b>&amp; & </b>`,
    ({ mark }) => `${mark()} /a?b=1#c%20d;e+f`,
    ({ mark }) => `${mark()} {{a}} \${b} %s {% c %}`,
    ({ mark }) => `${mark()} O'Brien, Ada; Jr.`,
    ({ mark }) => `${mark()} Müller “Groß” – 5 €`,
    ({ mark }) => `${mark()} e\u0301 n\u0303 A\u030a`,
    ({ mark }) => `${mark()} 👩‍👩‍👧 𝒳 ₿`,
    ({ mark }) => `${mark()} שלום مرحبا`,
    ({ mark }) => `${mark()} 東京都 ไทย हिन्दी`,
    ({ mark }) => `${mark()} first\nsecond ${mark()}`,
    ({ mark, max }) => `${mark()} ${longText(max - 2 * mark().length - 2)} ${mark()}`
  ],
  address: [
    (making) => at('', making),
    (making) => at('Ada.', making, '+Tag'),
    (making) => at('o\'m=_', making),
    (making) => at('"', making, '..b"'),
    ({ mark }) => `${mark()}@bücher.example`,
    (making) => at('', making, `.${'l'.repeat(40)}`),
    (making) => at('ада', making)
  ],
  mailbox: [
    (making) => named(making.mark(1), making),
    (making) => named(`"Lovelace, Ada \\"${making.mark(1)}\\" \\\\ O'Brien"`, making),
    (making) => named(`"${making.mark(1)} & <Söhne>; @home"`, making),
    (making) => named(`Ада 李雷 ${making.mark(1)} 👩‍👩‍👧`, making),
    (making) => at('Ada.', making, '+Tag'),
    (making) => at('o\'m=_', making),
    (making) => at('"', making, '..b"'),
    (making) => named(making.mark(1), { ...making, own: '@bücher.example' }),
    (making) => at('', making, `.${'l'.repeat(40)}`),
    (making) => at('ада', making)
  ],
  phone: [
    // Another subscriber of the fixture's own exchange.
    ({ own, index }) => typeof own === 'string' ? own.slice(0, -2) + String(index + 10) : undefined,
    () => '+12025550147',
    () => '+447911987654',
    () => '+4915123498761',
    // Italy dials the zero, Mexico no longer the 1, and Saint Helena has a code of three digits.
    () => '+390698234517',
    () => '+5215598761234',
    () => '+29051437'
  ],
  day: [
    ({ index }) => `2027-05-${String(13 + 3 * (index % 5))}`,
    turning(0),
    turning(1),
    turning(2),
    turning(3)
  ],
  filename: [
    ({ mark }) => `${mark()}.pdf`,
    ({ mark }) => `${mark()} Müller & Söhne n°7 – été.pdf`,
    ({ mark }) => `${mark()} 請求書 (2) [b] 100% #1.pdf`,
    ({ mark }) => `${mark()} O'Brien, {a} e\u0301.b;c=d.pdf`,
    ({ mark }) => `${mark()} שלום 👩‍👩‍👧 𝒳.pdf`
  ],
  location: [
    ({ mark, own }) => ({ ...parts(own), address: mark(1), city: mark(2) }),
    place('GB', 'SW1A 2AA', ' High Street', '-on-Sea'),
    place('JP', '100-0001', ' 1-chome', '-ku'),
    place('DE', '50667', ' Straße 5', ' Köln'),
    place('FR', '94240', ', rue d’Été', '-lès-Roses'),
    place('NL', '1012 AB', ' & Zn.', ' \'s'),
    place('US', '20500-0003', ' Ave NW', '', { state: 'DC', region: 'DC' }),
    // Without a postal code.
    place('IE', undefined, ' Óir', ' Dún'),
    place('HK', undefined, ' Road', ' 中環')
  ]
}

/** A text that is long, in words; its length is given in characters. */
function longText (length: number): string {
  return 'so long '.repeat(Math.ceil(Math.max(8, length) / 8)).slice(0, Math.max(8, length)).replace(/ $/, 'x')
}

/** An address at the domain of the fixture's own, from which a company may be allowed to send. */
function at (before: string, { mark, own }: Making, after = ''): string {
  const address = typeof own === 'string' ? readMailbox(own)?.address ?? own : ''
  return `${before}${mark()}${after}@${address.slice(address.lastIndexOf('@') + 1) || 'example.com'}`
}

function named (name: string, making: Making): string {
  return `${name} <${at('', making)}>`
}

/** Each place another one of the days, because one that is lost must not be found at another place. */
function turning (from: number): Make {
  return ({ index }) => days[(from + index) % days.length]
}

const addressFields = ['address', 'city', 'state', 'region', 'postalCode', 'country'] as const

/** The parts of a postal address that belong together. */
export const isAddressField = (name: string): boolean => addressFields.some((field) => field === name)

function parts (own: Json | undefined): Record<string, Json> {
  return typeof own === 'object' && own !== null
    ? Object.fromEntries(Object.entries(own).filter(([name]) => isAddressField(name)))
    : {}
}

/** An address abroad. A region is written where the address of the fixture has such a field and the country has one. */
function place (
  country: string,
  postalCode: string | undefined,
  street: string,
  town: string,
  { state, region }: { state?: string, region?: string } = {}
): Make {
  return ({ mark, own }) => ({
    address: `${mark(1)}${street}`,
    city: `${mark(2)}${town}`,
    ...(postalCode !== undefined && { postalCode }),
    ...(region !== undefined && 'region' in parts(own) ? { region } : state !== undefined && !('region' in parts(own)) && { state }),
    country
  })
}
