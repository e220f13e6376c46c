import t from 'tap'
import { asSentence } from '../service/sentence.ts'

void t.test('what ends as a sentence gets no second period', (t) => {
  const ended = ['It "sends twice."', 'It sends twice (always!).', 'Il envoie « deux fois. »', '二回送る。', '']
  for (const text of ended) t.equal(asSentence(` ${text}`), text)
  t.equal(asSentence('It sends "twice"'), 'It sends "twice".')
  t.equal(asSentence('It sends twice (always)'), 'It sends twice (always).')
  t.end()
})
