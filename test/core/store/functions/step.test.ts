import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { has } from '../../../support/matching.ts'
import { document, type Key, moment, openFunctions, system } from './support.ts'

const { database, call, stranger, opened, steps, events, credits } = await openFunctions(t)

await t.test('the price of a step is held once, as far as the free credits cover it', async (t) => {
  const key = await opened({ steps: [{ price: 7, held: 0 }] })
  const hold = (price: number, of: Partial<Key> = {}): Promise<boolean> => call('hold_step', { ...key, ...of, price })
  t.equal(await hold(7, { company_id: stranger }), false)
  await t.rejects(hold(11), { code: 'DC402' })
  t.same(await credits(key.company_id), [10, 0])
  t.equal(await hold(7), true)
  t.equal(await hold(7), false, 'it is held already')
  t.same([await credits(key.company_id), (await steps(key))[0]?.held], [[10, 7], 7])
})

await t.test('a document of the provider takes the place of ours', async (t) => {
  const own = document(randomUUIDv7())
  const key = await opened({ documents: [own], steps: [{ document_id: own.document_id }] })
  const replace = (documentId: string, documents: ReturnType<typeof document>[], made?: { theirs: true }) =>
    call('replace_document', { ...key, document_id: documentId, documents, made })
  const fresh = document(randomUUIDv7(), 'theirs.pdf')
  await replace(fresh.document_id, [fresh])
  has(t, await steps(key), [{ document_id: fresh.document_id, made: null }])
  t.same((await events(key)).at(-1), {
    kind: 'fetched',
    step_id: key.step_id,
    actor: system,
    facts: { documentId: fresh.document_id },
    at: moment
  })
  await replace(own.document_id, [], { theirs: true })
  has(t, await steps(key), [{ document_id: own.document_id, made: { theirs: true } }])
  await database.owner.updateTable('steps').set({ made: '{"html":"a"}' }).where('step_id', '=', key.step_id).execute()
  await replace(fresh.document_id, [], { theirs: true })
  t.same((await steps(key))[0]?.made, { html: 'a', theirs: true })
})
