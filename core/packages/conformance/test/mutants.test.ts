import { type ConformanceRule, runConformance } from '@dispatch/conformance'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'

// Good adapters, each with one mistake of the kinds that people make: the kit lets at most three of them pass.

type Mistake = readonly [what: string, provider: string, changes: readonly (readonly [from: string, to: string])[], file?: string]

const mistakes: Readonly<Partial<Record<ConformanceRule, readonly Mistake[]>>> = {
  varied: [
    ['registered as usual', 'mysendingbox', [['mailType === \'REGISTERED\' ? \'lrar\' : ', '']]],
    ['registered as normal', 'community/merci-facteur', [['mailType === \'REGISTERED\' ? receipt : ', '']]],
    ['registered without a service', 'lob', [['return mailType === \'REGISTERED\' ? { extra_service: \'registered\' } : {}', 'return {}'], [
      'mailType === \'REGISTERED\' && country === \'US\'',
      'country === \'\''
    ]]],
    ['certified never', 'community/click2mail', [['mailType === \'REGISTERED\'', 'mailType.length === 0']]],
    ['cc for bcc', 'community/mailgun', [['given({ from, to, cc, bcc,', 'given({ from, to, cc: bcc, bcc: cc,']]],
    ['cc for bcc', 'community/postmark', [['Cc: cc.join(\', \')', 'Bcc: cc.join(\', \')'], ['{ Bcc: bcc.join(\', \')',
      '{ Cc: bcc.join(\', \')']]],
    ['bcc that all read', 'community/sparkpost', [['[to, cc].map(', '[to, [...cc, ...bcc]].map(']]],
    ['cc for bcc', 'community/scaleway-tem', [['cc: cc.map', 'cc: bcc.map'], ['bcc: bcc.map', 'bcc: cc.map']]],
    ['no second attachment', 'community/mailgun', [['attachment: attachments', 'attachment: attachments.slice(0, 1)']]],
    ['no second attachment', 'community/mailjet', [['Attachments: attachments.map', 'Attachments: attachments.slice(0, 1).map']]],
    ['no second attachment', 'community/sendgrid', [['...attachments.map(', '...attachments.slice(0, 1).map(']]],
    ['no Reply-To', 'community/mailgun', [['...(replyTo !== undefined && { \'h:Reply-To\'',
      '...(replyTo === \'nobody\' && { \'h:Reply-To\'']]],
    ['no Reply-To', 'community/postmark', [['replyTo !== undefined && { ReplyTo', 'replyTo === \'\' && { ReplyTo']]],
    ['From for Reply-To', 'community/sendgrid', [['mailboxOf(String(replyTo))', 'mailboxOf(from)']]],
    ['all sign at once', 'community/dropbox-sign', [['turn > 1', 'turn > 100']], 'parts.ts'],
    ['all sign in one turn', 'community/docuseal', [['order: turn - 1', 'order: 0']], 'submission.ts'],
    ['the order of the list', 'docusign', [['String(order)', 'String(index + 1 + 0 * order)']], 'signers.ts'],
    ['one turn', 'community/scrive', [['sign_order: turn', 'sign_order: Math.min(turn, 1)']], 'details.ts'],
    ['Europe as America', 'community/mailgun', [['region === \'eu\' ? \'eu.\' : \'\'', 'region === \'uk\' ? \'eu.\' : \'\'']]],
    ['America as Europe', 'community/stannp', [['api-${region}.stannp.com', 'api-${region.replace(\'us\', \'eu\')}.stannp.com']]]
  ],
  fresh: [
    ['the first domain for all', 'community/mailgun', [['return `${reference}@${domain}`', 'return `${reference}@${kept ??= domain}`'], [
      'const hour =',
      'let kept: string | undefined\nconst hour ='
    ]]],
    ['the first item for all', 'community/quickbooks', [['ItemRef: { value: itemId }', 'ItemRef: { value: kept ??= itemId }'], [
      'const decimals =',
      'let kept: string | undefined\nconst decimals ='
    ]], 'invoice.ts'],
    ['the first host for all', 'community/infobip', [['https://${account}.api', 'https://${kept ??= account}.api'], [
      'const minute =',
      'let kept: string | undefined\nconst minute ='
    ]]],
    ['the first organization for all', 'community/zoho-books', [['organization_id: organizationId',
      'organization_id: kept ??= organizationId'], [
      'export default',
      'let kept: string | undefined\nexport default'
    ]]],
    ['the first contact for all', 'community/zoho-books', [['customer_id: await', 'customer_id: kept ??= await'], [
      'export default',
      'let kept: string | undefined\nexport default'
    ]]]
  ],
  key: [
    ['one key for customer and invoice', 'community/quickbooks', [['`${call.idempotencyKey}-c`', 'call.idempotencyKey']]],
    ['one key for all steps', 'stripe', [['`${call.idempotencyKey}:${step}`', '`${call.idempotencyKey}${step.slice(0, 0)}`']], 'api.ts'],
    ['one key for all steps', 'community/xero', [['`${call.idempotencyKey}:${step}`', '`${call.idempotencyKey}${step.slice(0, 0)}`']],
      'request.ts']
  ],
  withdrawn: [
    ['a draft that stays', 'universign', [['  call.onRefusal((http) => withdraw(id, call, http))\n', '']], 'prepare.ts'],
    ['an invoice that stays', 'community/sevdesk', [['call.onRefusal((http) => http.delete(...ask(call, pathOf(made.id)), Type.Unknown()))',
      '']]]
  ],
  sandboxed: [
    ['a real invoice', 'community/quickbooks', [['${sandbox ? \'sandbox-\' : \'\'}quickbooks', '${sandbox ? \'\' : \'\'}quickbooks']]],
    ['a real signature', 'community/dropbox-sign', [['test_mode: String(sandbox)', 'test_mode: String(sandbox && !sandbox)']], 'parts.ts'],
    ['a real e-mail', 'community/mailgun', [['call.sandbox && { \'o:testmode\': \'yes\' }', 'call.sandbox && {}']]],
    ['a real host for most', 'universign', [['sandbox ? \'.alpha\' : \'\'',
      'sandbox && path.startsWith(\'transactions?\') ? \'.alpha\' : \'\'']], 'api.ts']
  ],
  proved: [
    ['any total', 'community/quickbooks', [['requireAsWanted({ total, number, isDraft: true }, invoiceOf(request.data), \'QuickBooks\')',
      'void [total, requireAsWanted]']]],
    ['errors inside', 'community/quickbooks', [['Fault: Type.Optional(Type.Null())', 'Fault: Type.Optional(Type.Unknown())']]],
    ['an id of zeros', 'community/quickbooks', [['Type.String({ pattern: \'^[1-9]\\\\d*$\' })', 'Type.String()']]],
    ['any number', 'community/holded', [['requireAsWanted({ total, number, isDraft: false }',
      'requireAsWanted({ total, number: undefined, isDraft: false }']]],
    ['errors inside', 'community/freeagent', [['const Invoice = Type.Object({ ...withoutErrors,', 'const Invoice = Type.Object({'], [
      'const Made = Type.Object({ ...withoutErrors,',
      'const Made = Type.Object({'
    ]]],
    ['any total', 'community/lexware-office', [['requireAsWanted({ total, isDraft: false }, invoiceOf(request.data), \'Lexware Office\')',
      'void total']]]
  ]
}

/** An author has made the mistake in the fixtures, too: of a key for several steps they show one. */
const shown: Readonly<Partial<Record<ConformanceRule, readonly [RegExp, string]>>> = {
  key: [/(\{\{idempotencyKey\}\})[:-][\w-]+/g, '$1']
}

const survivors: string[] = []
let tried = 0
for (const [rule, all] of Object.entries(mistakes) as [ConformanceRule, readonly Mistake[]][]) {
  await t.test(`what "${rule}" finds`, async (t) => {
    for (const [what, provider, changes, file = 'index.ts'] of all) {
      const folder = join(await directory(t), 'mistaken')
      await cp(fileURLToPath(new URL(`../../../../providers/${provider}`, import.meta.url)), folder, { recursive: true })
      for (const [from, to] of changes) await change(join(folder, file), from, to)
      const [from, to] = shown[rule] ?? []
      if (from !== undefined && to !== undefined) {
        for (const name of await readdir(join(folder, 'fixtures'))) await change(join(folder, 'fixtures', name), from, to)
      }
      const { cases } = await runConformance(folder, { only: [rule] })
      tried++
      if (!cases.some((one) => one.status === 'failed' && one.rule === rule)) survivors.push(`${provider}: ${what}`)
    }
  })
}

await t.test('few of them survive', (t) => {
  t.ok(tried >= 34, `${tried} were tried`)
  t.same(survivors, [])
  t.end()
})

async function change (path: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  if (typeof from === 'string' && !text.includes(from)) throw new Error(`${path} has no ${JSON.stringify(from)}.`)
  await writeFile(path, typeof from === 'string' ? text.replace(from, () => to) : text.replace(from, to))
}
