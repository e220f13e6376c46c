import t from 'tap'
import { textOfHtml } from '../text/from-html.ts'

const rules: [what: string, html: string, text: string][] = [
  [
    'paragraphs stand apart, lines below each other',
    '<h1>Hello</h1><p>One<br>two</p><div>three</div><div>four</div>',
    'Hello\n\nOne\ntwo\n\nthree\nfour'
  ],
  ['white space is one space', ' <p>\n  a\t b&nbsp; c </p>\n\n', 'a b c'],
  ['characters are decoded, once', '<p>&euro; &eacute; &#233; &lt;b&gt; &amp;lt;</p>', '€ é é <b> &lt;'],
  [
    'the address of a link stands behind its words, unless they are it',
    '<a href="https://a.example/?b=1&amp;c=2">Here</a> <a href=mailto:a@b.example>a@b.example</a> <a ' +
    'href=\'https://a.example\'>https://a.example</a>',
    'Here <https://a.example/?b=1&c=2> a@b.example https://a.example'
  ],
  ['an address that no mail may lead to is not shown', '<a href="javascript:alert(1)">x</a> <a>y</a>', 'x y'],
  ['a picture is its words', '<img alt="Our logo" src="x"><img src="y"><img alt="">', '[Our logo]'],
  ['lists count, or have dashes', '<ul><li>a<li>b<ul><li>c</ul></ul><ol><li>d</li><li>e</li></ol>', '- a\n- b\n- c\n\n1. d\n2. e'],
  ['rows are lines', '<table><tr><td>a<td>b</tr><tr><td>c</td></tr></table>', 'a b\nc'],
  [
    'what nobody sees is left out',
    '<title>T</title><style>p > b { }</style><script>if (a < b) "</p>"</script><!-- <p>x</p> --><p>y</p>',
    'y'
  ],
  ['a quoted > ends no tag, a lone < begins none', '<p title="a > b">1 < 2 <3 > 0</p>', '1 < 2 <3 > 0'],
  ['what is never ended goes on to the end', 'a<p title="b>c', 'a'],
  ['lines are broken at 76 characters', `<p>${'word '.repeat(20)}</p>`, `${'word '.repeat(15).trim()}\n${'word '.repeat(5).trim()}`]
]

for (const [what, html, text] of rules) {
  await t.test(what, (t) => {
    t.equal(textOfHtml(html), text)
    t.end()
  })
}

await t.test('a hostile page takes no longer than it is long', (t) => {
  const pieces = [
    '<div>',
    '<a href=https://a.example>x',
    '<a href="',
    '<a \'',
    '<a ',
    '<!--',
    '<ul><li>a',
    '<table><tr><td>',
    '&',
    '<',
    '<img alt=',
    '</p>',
    `<a href=https://a.example>${'x '.repeat(20)}</a>`,
    '<style>',
    ' '
  ]
  for (const piece of pieces) {
    const timeOf = (length: number): number => {
      const html = piece.repeat(Math.ceil(length / piece.length))
      const begun = performance.now()
      textOfHtml(html)
      return performance.now() - begun
    }
    timeOf(10_000)
    t.ok(timeOf(1_000_000) < 20_000, JSON.stringify(piece.slice(0, 30)))
  }
  t.end()
})
