import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlToMarkdown } from './html-to-markdown.ts';

const options = { baseUrl: 'https://site.test/docs/', maxLength: 100_000, signal: new AbortController().signal };
const markdownOf = async (html: string): Promise<string> => (await htmlToMarkdown(html, options)).markdown;

test('text, links, lists, quotations, code and tables keep their form', async () => {
  const expected: readonly (readonly [html: string, markdown: string])[] = [
    ['<h2>A  title</h2>text<p>more', '## A title\n\ntext\n\nmore'],
    ['<p>a <b>bold </b>word and <em>two</em></p>', 'a **bold** word and *two*'],
    ['one<br>two &amp; &lt;three&gt;', 'one\ntwo & <three>'],
    ['<a href="page?a=1&amp;b=2">a\n link</a>', '[a link](https://site.test/docs/page?a=1&b=2)'],
    ['<a href="javascript:alert(1)">js</a> <a>none</a>', 'js none'],
    [
      '<p>x<ul><li>one<li>two<ul><li>deep</ul></ul><ol start=3><li>three</ol>',
      'x\n\n- one\n- two\n  - deep\n\n3. three',
    ],
    ['<blockquote>said<p>again</blockquote>', '> said\n\n> again'],
    ['<pre><code class="language-js">a &lt; 1;\n  b\n</code></pre>', '```js\na < 1;\n  b\n```'],
    ['<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    ['<table><tr><th>A<th>B<tr><td>1|2<td><p>x<p>y</table>', '| A | B |\n| --- | --- |\n| 1\\|2 | x y |'],
    ['<img src=/a.png alt="a picture"><img src=b.png>', '![a picture](https://site.test/a.png)'],
    ['a<hr>b', 'a\n\n---\n\nb'],
  ];
  for (const [html, markdown] of expected) assert.equal(await markdownOf(html), markdown, html);
});

test('what nobody sees on the page is not in its text', async () => {
  const hidden = [
    '<script>x = "<p>no</p>"</script>',
    '<style>p { color: no }</style>',
    '<p hidden>no</p>',
    '<div style="display: none">no<div>no</div>no</div>',
    '<span style="visibility:hidden">no</span>',
    '<span style="font-size:0">no</span>',
    '<i aria-hidden="true">no</i>',
    '<template><p>no</p></template>',
    '<!-- no -->',
    '<svg><text>no</text></svg>',
  ];
  for (const html of hidden) assert.equal(await markdownOf(`before ${html} after`), 'before after', html);
  assert.equal(await markdownOf('<p>a\u200bb\u{E0041}\u{E0042}c\u202ed</p>'), 'abcd');
  // Variation selectors spell bytes, fillers and marks of direction are drawn as nothing.
  assert.equal(await markdownOf('<p>a\ufe01\u{E0125}b\u200e\u200fc\u3164\u2800d\u180e</p>'), 'abcd');
  assert.equal(
    await markdownOf('<p>می\u200cخواهم \u{1f469}\u200d\u{1f4bb}</p>'),
    'می\u200cخواهم \u{1f469}\u200d\u{1f4bb}',
  );
});

test('the main part is taken where a page has one, and all of it where it has nothing else', async () => {
  const long = 'Text to read. '.repeat(30).trim();
  assert.equal(
    await markdownOf(`<header>Brand</header><nav>Menu</nav><main><p>${long}</p></main><footer>Foot</footer>`),
    long,
  );
  assert.equal(await markdownOf(`<div>Brand</div><article><p>${long}</p></article><aside>Ad</aside>`), long);
  assert.equal(await markdownOf('<nav><a href=/x>Only this</a></nav>'), '[Only this](https://site.test/x)');
});

test('hostile pages are read in a bounded time and length', async () => {
  const n = 200_000;
  const pages = [
    '<b>'.repeat(n),
    '<b>'.repeat(n) + '</i>'.repeat(n),
    '<ul><li>x'.repeat(n / 4),
    '<blockquote>x'.repeat(n / 4),
    '<'.repeat(n),
    '&'.repeat(n),
    `<!--${'-'.repeat(n)}`,
    `<a ${'x="y" '.repeat(n / 4)}>`,
    '<table><tr><td>x'.repeat(n / 8),
    `<pre>${'`'.repeat(n)}`,
    '<a href=x>y</a>'.repeat(n / 8),
    `<p style="display${' '.repeat(n)}">`,
    '\ud800<p>'.repeat(n / 4),
  ];
  for (const html of pages) {
    const { markdown } = await htmlToMarkdown(html, { ...options, baseUrl: `https://site.test/${'x'.repeat(1900)}/` });
    assert.ok(markdown.length <= options.maxLength && markdown.isWellFormed(), html.slice(0, 20));
  }
});

test('a call that ends stops the reading', async () => {
  const stopped = { ...options, signal: AbortSignal.abort(new Error('ended')) };
  await assert.rejects(htmlToMarkdown('<p>x', stopped), /ended/);
});
