/** Texts that would be markup, script, style or addresses where a page did not write them as text. None is longer than a name may be. */
export const hostileTexts = [
  '"><x-evil onclick=alert(1) autofocus onfocus=alert(1)>',
  '\'><svg/onload=alert(1)><img src=//evil.test onerror=alert(1)>',
  '<script>alert(1)</script><script src=//evil.test></script>',
  '</script></style></title></textarea></pre><x-evil>',
  'javascript:alert(1)//https://evil.test',
  '{{ 7 * 7 }} ${alert(1)} <%= 1 %> #{1} [[x]] {% x %}',
  '<!--<x-evil>--><![CDATA[<x-evil>]]><?xml x?>',
  '&lt;x-evil&gt; &#60;x-evil&#62; \\u003cx-evil\\u003e %3Cx-evil%3E',
  '\u202e<x-evil>\u2066\u200b\u200f right to left',
  '" style="position:fixed;inset:0" onmouseover="alert(1)',
  '<style>*{display:none}</style><base href=//evil.test>',
  'W'.repeat(60),
  '＜x-evil＞﹤script﹥\u02c2x\u02c3\ufeff\ufffd',
  '\' onclick=alert(1) x=\'`-alert(1)-`',
  '<iframe src=//evil.test><form action=//evil.test>',
  '<a href="javascript:alert(1)">x</a><b>'
]
