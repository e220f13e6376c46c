import { type ConformanceRule, runConformance } from '@dispatch/conformance'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'

/** A shipped provider with a mistake, which its author has made in its fixtures, too: those that show it are left out. */
type Mistake = {
  name: string
  provider: string
  rule: ConformanceRule
  why: RegExp
  changes: readonly (readonly [from: string, to: string, file?: string])[]
  without?: readonly string[]
}

const mistakes: readonly Mistake[] = [
  {
    name: 'swaps cc and bcc',
    provider: 'community/brevo',
    rule: 'varied',
    why: /\/email\/cc: it reaches the vendor as "bcc" \(request 1, JSON at \/bcc\/0\/email\)/,
    changes: [
      ['  cc: cc.map(shortNamed)', '  bcc: cc.map(shortNamed)'],
      ['  bcc: bcc.map(shortNamed)', '  cc: bcc.map(shortNamed)']
    ],
    without: ['send.everything', 'send.no-credits']
  },
  {
    name: 'loses the second attachment',
    provider: 'community/brevo',
    rule: 'varied',
    why: /\/attachments: of 3 given, number 2 does not reach the vendor/,
    changes: [['attachment: documents.map(', 'attachment: documents.slice(0, 1).map(']]
  },
  {
    name: 'answers to the first of several addresses alone',
    provider: 'community/resend',
    rule: 'varied',
    why: /\/email\/replyTo: of 3 given, number 2 does not reach the vendor/,
    changes: [['reply_to: replyTo }', 'reply_to: [replyTo].flat()[0] }']]
  },
  {
    name: 'has those sign first who sign last',
    provider: 'community/yousign',
    rule: 'varied',
    why: /\/esign\/signers\/\*\/order: who signs second reaches the vendor as the first/,
    changes: [['signingOf(request)', 'signingOf(request).reverse()', 'prepare.ts']],
    without: ['send.ordered']
  },
  {
    name: 'does not say that there is an order',
    provider: 'community/yousign',
    rule: 'varied',
    why: /\/esign\/signers\/\*\/order: one after the other, the other way round or together, the vendor gets the same/,
    changes: [['new Set(signers.map(({ order = 1 }) => order)).size > 1', 'false', 'prepare.ts']],
    without: ['send.ordered']
  },
  {
    name: 'takes all pages for those of its setting',
    provider: 'community/docuseal',
    rule: 'placed',
    why:
      /\*\/x: a place that moves by 1000 points on a page of 2000 reaches the vendor as no length and no share of that page: 0\.168 becomes/,
    changes: [['shareOfPage(place, paper)', 'shareOfPage({ ...place, pageSize: undefined }, paper)', 'submission.ts']]
  },
  {
    name: 'takes all pages for A4',
    provider: 'signaturit',
    rule: 'placed',
    why: /\*\/y: a place that moves by 1000 points on a page of 3000 reaches the vendor as no length and no share of that page/,
    changes: [['shareOfPage(place, paper, 100)', 'shareOfPage({ ...place, pageSize: undefined }, \'A4\', 100)', 'parts.ts']],
    without: ['send.letter']
  },
  {
    name: 'sends two lines of an invoice at most',
    provider: 'community/xero',
    rule: 'varied',
    why: /\/data\/lines: of 3 lines, 2 reach the vendor/,
    changes: [['...lines.map((line, index) => (', '...lines.slice(0, 2).map((line, index) => (', 'invoice.ts']]
  },
  {
    name: 'takes another total',
    provider: 'community/xero',
    rule: 'proved',
    why: /answered with another total, from request 3 of 4\n(.*\n)?The invoice is issued all the same/,
    changes: [['made.Total === undefined || !wanted.total.eq(made.Total)', 'made.Total === -1', 'api.ts']]
  },
  {
    name: 'takes errors for an invoice',
    provider: 'community/xero',
    rule: 'proved',
    why: /answered with errors in it \(request 4\), from request 4 of 4\nIt is called accepted/,
    changes: [['HasErrors === true || HasValidationErrors === true || word === \'ERROR\' || ', '', 'api.ts']]
  },
  {
    name: 'takes zeros for an id',
    provider: 'community/xero',
    rule: 'proved',
    why: /answered with an id of zeros \(request 4\), from request 4 of 4\nIt is called accepted/,
    changes: [[' || noId.test(idOf(thing))', '', 'api.ts']]
  },
  {
    name: 'takes the invoice of somebody else',
    provider: 'community/xero',
    rule: 'proved',
    why: /answered with somebody else's number, from request 4 of 4\nIt is called accepted/,
    changes: [['made === undefined || made === number', 'made === undefined || number !== undefined', 'api.ts']]
  }
]

for (const { name, provider, rule, why, changes, without = [] } of mistakes) {
  await t.test(`a provider that ${name} fails "${rule}"`, async (t) => {
    const folder = await mistaken(t, provider, changes)
    await Promise.all(without.map((fixture) => rm(join(folder, 'fixtures', `${fixture}.json`))))
    const { cases } = await runConformance(folder, { only: [rule] })
    const reported = cases.filter(({ status }) => status === 'failed').map((one) => `${one.name}\n${one.why ?? ''}`)
    t.ok(reported.some((text) => why.test(text)), `${String(why)} in ${JSON.stringify(reported)}`)
  })
}

async function mistaken (t: Test, provider: string, changes: Mistake['changes']): Promise<string> {
  const folder = join(await directory(t), 'mistaken')
  await cp(fileURLToPath(new URL(`../../../../providers/${provider}`, import.meta.url)), folder, { recursive: true })
  for (const [from, to, name = 'index.ts'] of changes) {
    const file = join(folder, name)
    const text = await readFile(file, 'utf8')
    if (!text.includes(from)) throw new Error(`${provider} has no ${JSON.stringify(from)}.`)
    await writeFile(file, text.replace(from, to))
  }
  return folder
}
