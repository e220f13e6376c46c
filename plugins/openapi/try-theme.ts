/** What the pages on which requests are tried need so that everybody can use them: axe finds faults in them as their library makes them. */
export const tryTheme = {
  css: [{
    filename: 'mended.css',
    content: `.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #0f5cad }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #19703f }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a4b00 }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0b6b5a }
.swagger-ui .info .title small { background: #4a5363 }
.swagger-ui .info .title small.version-stamp { background: #2f6f3e }
.swagger-ui .info .title small pre { color: #fff }
.swagger-ui .info a, .swagger-ui .info .url, .swagger-ui .info .link { color: #1a4f8b }
.swagger-ui .btn.authorize { color: #19703f; border-color: #19703f }
.swagger-ui .btn.authorize svg { fill: #19703f }
.swagger-ui .parameter__in { color: #4a5363 }
.swagger-ui .microlight { background: #111 !important }
.swagger-ui .opblock-tag small, .swagger-ui .opblock-description-wrapper p { color: #3b4151 }
`
  }],
  js: [{
    filename: 'mended.js',
    content: `const name = (element, text) => {
  element.setAttribute('role', 'region')
  element.setAttribute('aria-label', text)
}
const mend = () => {
  const all = (selector) => document.querySelectorAll('#swagger-ui ' + selector)
  for (const part of all('.information-container')) name(part, 'About')
  for (const part of all('.scheme-container')) name(part, 'Server')
  for (const [tag, level] of [['h3', 2], ['h4', 3], ['h5', 4]]) for (const title of all(tag)) title.setAttribute('aria-level', level)
  for (const link of all('button.opblock-summary-control a[href]')) link.removeAttribute('href')
  for (const text of all('pre:not([tabindex])')) text.tabIndex = 0
  for (const field of all('select:not([aria-label])')) field.setAttribute('aria-label', field.id === 'servers' ? 'Server' : 'Choice')
}
new MutationObserver(mend).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true })
`
  }]
}
