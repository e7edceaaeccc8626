// Holds the page for people, on the demo's books: what it shows is what the API says, asked for here.

import { LOOKS, addresses, folder, hold, holdPage, tab } from './holding.mjs'

const { lasting, ending } = addresses
const { origin } = new URL(lasting)
const [page, token] = lasting.split('#token=')
const { business_id: business, exp } = JSON.parse(atob(ending.split('#token=')[1].split('.')[1]))
const home = `/v1/platform/businesses/${business}/`
const VIEWS = [
  'overview', 'profit-and-loss', 'balance-sheet', 'cash-flow', 'trial-balance', 'receivables', 'invoices', 'payments', 'customer-credits', 'customers',
  'payables', 'bills', 'bill-payments', 'vendor-credits', 'vendors', 'bank', 'bank-lines', 'payouts', 'tax', 'tax-returns', 'entries', 'events', 'search', 'search&find=blue', 'integrity'
]
// Each kind of record, by a list of the API of which the first has a page.
const RECORDS = {
  'invoice': 'invoices/?status=partially_paid', 'payment': 'invoices/payments/?status=completed', 'customer': 'customers/',
  'bill': 'bills/?status=paid', 'bill-payment': 'bills/payments/', 'vendor': 'vendors/',
  'refund': 'invoices/refunds/', 'customer-credit': 'customer-credits/', 'vendor-credit': 'vendor-credits/', 'vendor-refund': 'vendor-refunds/',
  'payout': 'payouts/', 'bank-transaction': 'bank-transactions/?is_reconciled=true', 'tax-return': 'tax-returns/',
  'entry': 'general-ledger/journal-entries/?status=approved'
}
const LANGUAGES = { en: 'Overview', de: 'Übersicht', nl: 'Overzicht', fr: 'Vue d’ensemble', es: 'Resumen' }
const amount = (minor) => new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2 }).format(minor / 100).replace('-', '−')
const money = (minor) => new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' }).format(minor / 100).replace('-', '−')

export const pageForPeople = (browser) => [ends(browser), oneByOne(browser)]

/** One after the other: all of it is one business, and that has its share of a server. */
async function oneByOne(browser) {
  for (const each of [figures, records, events, saved, searched, keyboard, tokens, languages, paper]) await each(browser)
  for (const [scheme, width] of LOOKS) await look(browser, scheme, width)
}

/** Ask the API what the page asks it, as anybody could. */
async function asked(path) {
  const answer = await fetch(`${origin}${home}${path}`, { headers: { Authorization: `Bearer ${token}` } })
  hold(answer.ok, `${path}: ${answer.status}`)
  return answer.json()
}

/** Open the page with a token, in English as in Great Britain. */
async function opened(browser, address = lasting, options = {}) {
  const busy = (said) => said.includes('503') // It asks again, as it is told to.
  const tabbed = await tab(browser, { locale: 'en-GB', expects: busy, ...options })
  tabbed.on('request', (request) => hold(request.method() === 'GET', `The page sends ${request.method()} ${request.url()}`))
  await tabbed.goto(address)
  await settled(tabbed)
  return tabbed
}

const settled = (tabbed) => tabbed.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.waiting, .light.checking'))

async function go(tabbed, place) {
  await tabbed.evaluate((hash) => { location.hash = hash }, place)
  await settled(tabbed)
}

const textOf = async (tabbed, selector) => (await tabbed.locator(selector).allTextContents()).map((text) => text.trim())

async function look(browser, colorScheme, width) {
  const tabbed = await opened(browser, lasting, { colorScheme, viewport: { width, height: 800 } })
  for (const view of VIEWS) {
    await go(tabbed, `view=${view}`)
    hold(!(await tabbed.locator('.failed').count()), `${view}: something cannot be shown`)
    await holdPage(tabbed, `app-${view.replace('&find=', '-')}`, colorScheme, width)
  }
  for (const [view, path] of Object.entries(RECORDS)) {
    const { results: [{ id }] } = await asked(`${path}${path.includes('?') ? '&' : '?'}page_size=1`)
    await go(tabbed, `view=${view}&id=${id}`)
    hold(!(await tabbed.locator('.failed').count()), `${view}: something cannot be shown`)
    await holdPage(tabbed, `app-${view}`, colorScheme, width)
  }
  await go(tabbed, 'view=profit-and-loss&compare=previous_year')
  await holdPage(tabbed, 'app-compared', colorScheme, width)
  await tabbed.click('.statement .line a')
  await settled(tabbed)
  await holdPage(tabbed, 'app-lines', colorScheme, width)
  await go(tabbed, 'view=tax')
  await tabbed.click('td a')
  await settled(tabbed)
  await holdPage(tabbed, 'app-tax-lines', colorScheme, width)
  await tabbed.goto('about:blank')
  await tabbed.goto(page)
  await tabbed.waitForSelector('form')
  await holdPage(tabbed, 'app-opening', colorScheme, width)
  await tabbed.context().close()
}

const now = new Date()
const today = now.toLocaleDateString('sv')
const first = new Date(Date.UTC(now.getFullYear(), now.getMonth() - 11, 1)).toISOString().slice(0, 10)
const twelveMonths = (from, to) => `${from}=${first}&${to}=${today}`

/** What stands on the page is what the API says; a figure opens its lines, an entry its document. */
async function figures(browser) {
  const tabbed = await opened(browser)
  for (const basis of ['accrual', 'cash']) {
    await go(tabbed, `view=overview&basis=${basis}`)
    const days = `${twelveMonths('start_date', 'end_date')}&basis=${basis}`
    const report = await asked(`reports/profit-and-loss/?${days}&detail_level=detailed`)
    const sheet = await asked(`reports/balance-sheet/?as_of_date=${today}&basis=${basis}&detail_level=detailed`)
    const big = await textOf(tabbed, '.big')
    hold(big[1] === money(report.summary.net_profit_cents), `${basis}: net profit is ${big[1]}`)
    const months = await textOf(tabbed, '.chart:first-of-type tbody tr')
    hold(months.length === 12, `${basis}: ${months.length} months in the table of the chart`)
    await go(tabbed, `view=profit-and-loss&basis=${basis}`)
    const lines = Object.values(report).flatMap((each) => each?.line_items ?? [])
    const shown = await textOf(tabbed, '.statement .line .figure')
    hold(shown.join() === lines.map((line) => amount(line.value_cents)).join(), `${basis}: the lines are ${shown}`)
    await go(tabbed, `view=balance-sheet&basis=${basis}`)
    const sums = await textOf(tabbed, '.statement .total .figure')
    const { total_assets_cents, total_liabilities_cents, net_assets_cents, total_equity_cents } = sheet.summary
    const wanted = [total_assets_cents, total_liabilities_cents, net_assets_cents, total_equity_cents].map(amount)
    hold(sums.join() === wanted.join(), `${basis}: the balance sheet comes to ${sums}`)
    await go(tabbed, `view=cash-flow&basis=${basis}`)
    const flow = await asked(`reports/cash-flow/?${days}`)
    const flows = await textOf(tabbed, '.statement .total .figure')
    hold(flows.join() === Object.values(flow.summary).map(amount).join(), `${basis}: the cash flow comes to ${flows}`)
    await go(tabbed, `view=trial-balance&basis=${basis}`)
    const trial = await asked(`reports/trial-balance/?as_of_date=${today}&basis=${basis}`)
    const sides = await textOf(tabbed, 'tr.total td')
    hold(sides.join() === [trial.total_debits_cents, trial.total_credits_cents].map(amount).join(), `${basis}: the trial balance comes to ${sides}`)
    await go(tabbed, `view=tax&basis=${basis}`)
    const { return_preview: { boxes } } = await asked(`reports/vat-summary/?${days}`)
    const declared = await textOf(tabbed, 'section:first-of-type tbody .figure')
    hold(declared.join() === boxes.map((box) => amount(box.amount_cents)).join(), `${basis}: the boxes are ${declared}`)
  }
  await go(tabbed, 'view=overview&period=own&from=2016-01-01&to=2026-12-31')
  const years = await textOf(tabbed, '.chart:first-of-type tbody th')
  hold(years.join() === '2016,2017,2018,2019,2020,2021,2022,2023,2024,2025,2026', `Ten years are told as ${years}`)
  await lists(tabbed)
  await explained(tabbed)
  await tabbed.context().close()
}

async function lists(tabbed) {
  await go(tabbed, 'view=overview')
  const counts = ['invoices/?status=issued', 'bills/?status=issued', 'bank-transactions/?is_reconciled=false', `general-ledger/journal-entries/?status=approved&${twelveMonths('date_from', 'date_to')}`]
  const told = await textOf(tabbed, '.all a')
  for (const [at, path] of counts.entries()) hold(told[at] === `All ${(await asked(path)).page_info.total_count}`, `${path}: ${told[at]}`)
  hold((await textOf(tabbed, '.light'))[0] === '● Books hold', 'The light is not green.')
  await go(tabbed, 'view=receivables')
  const aging = await asked('insights/ar-aging/')
  const [whole] = (await textOf(tabbed, 'section:first-of-type .total td:last-child'))
  hold(whole.startsWith(amount(aging.total_outstanding_cents)), `The aging comes to ${whole}`)
}

/** A figure opens lines that come to it, a line its entry, an entry its document, and back leads back. */
async function explained(tabbed) {
  await go(tabbed, 'view=profit-and-loss')
  const figure = tabbed.locator('.statement .line a').nth(1)
  const said = await figure.textContent()
  await figure.click()
  await settled(tabbed)
  const [, , , debit, credit] = await textOf(tabbed, 'tr.total > *')
  const minor = (text) => Number((text || '0').replace(/[^\d]/g, ''))
  hold(amount(Math.abs(minor(debit) - minor(credit))) === said.replace('−', ''), `${said} opens ${debit} and ${credit}`)
  const number = await tabbed.locator('tbody a').first().textContent()
  await tabbed.locator('tbody a').first().click()
  await settled(tabbed)
  hold((await textOf(tabbed, 'h1'))[0].endsWith(number), `${number} opens another entry`)
  const document = await tabbed.locator('.facts a').textContent()
  await tabbed.click('.facts a')
  await settled(tabbed)
  hold(document === (await textOf(tabbed, 'h1'))[0], `${document} opens ${await textOf(tabbed, 'h1')}`)
  await tabbed.goBack()
  await tabbed.goBack()
  await tabbed.goBack()
  await settled(tabbed)
  hold((await textOf(tabbed, 'h1'))[0] === 'Profit and loss', 'Going back does not lead back.')
}

/** A record leads to its party, to what settles it and to its entries, and each of them back to it. */
async function records(browser) {
  const tabbed = await opened(browser, lasting, { expects: (said) => /404|503/.test(said) })
  const title = async () => (await textOf(tabbed, 'h1'))[0]
  const follow = async (selector, text) => {
    await tabbed.locator(selector, { hasText: text }).first().click()
    await settled(tabbed)
  }
  const { results: [line] } = await asked('bank-transactions/?is_reconciled=true&direction=credit&page_size=1')
  await go(tabbed, `view=bank-transaction&id=${line.id}`)
  await follow('section a', 'Payment')
  const payment = await title()
  hold(payment.startsWith('Payment '), `A bank line leads to ${payment}`)
  hold((await textOf(tabbed, 'section:last-of-type .total td')).includes(amount(line.amount_cents)), 'The journal of a payment is not its amount.')
  await follow('section a', 'Invoice')
  const invoice = await title()
  hold(invoice.startsWith('Invoice INV-'), `A payment leads to ${invoice}`)
  await follow('section a', 'Payment')
  hold(tabbed.url().includes('view=payment'), 'An invoice does not lead to its payment.')
  await tabbed.goBack()
  await settled(tabbed)
  hold((await title()) === invoice, `Going back leads to ${await title()}`)
  await follow('h3 a', 'JE-')
  await follow('.facts a', invoice)
  hold((await title()) === invoice, `Its entry leads to ${await title()}`)
  await tabbed.locator('.facts a').first().click()
  await settled(tabbed)
  const { id } = Object.fromEntries(new URLSearchParams(new URL(tabbed.url()).hash.slice(1)))
  const statement = await asked(`customers/${id}/statement/?${twelveMonths('start_date', 'end_date')}`)
  const balances = await textOf(tabbed, '.total td:last-child')
  hold(balances.slice(0, 2).join() === [statement.opening_balance_cents, statement.closing_balance_cents].map(amount).join(), `The statement runs from ${balances}`)
  await follow('section td a', invoice)
  hold((await title()) === invoice, 'The statement does not lead to the invoice.')
  // Who reloads gives the token again, and is where they were.
  await tabbed.reload()
  await tabbed.waitForSelector('form.token')
  await tabbed.fill('[name=token]', token)
  await press(tabbed)
  await settled(tabbed)
  await tabbed.waitForSelector('h1 span')
  hold((await title()) === invoice && (await tabbed.title()).startsWith(invoice), `A reload leads to ${await title()}`)
  await go(tabbed, `view=invoice&id=${business}`)
  hold((await textOf(tabbed, '.failed'))[0].startsWith('There is no such record'), 'An unknown invoice is not told.')
  await go(tabbed, 'view=integrity')
  const sentences = await textOf(tabbed, 'tbody th')
  hold(sentences.length > 80 && sentences.every((text) => text.endsWith('.') && !text.includes('_')), 'A check is not a sentence.')
  await tabbed.context().close()
}

/** The last events stand there, the newest first, lead to their records, and the older ones follow. */
async function events(browser) {
  const tabbed = await opened(browser)
  const { head_sequence: head } = await asked('events/?page_size=1')
  hold(head > 100, `The demo has ${head} events`)
  const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: (await asked('')).timezone })
  const stand = async (after) => {
    const told = (await asked(`events/?after=${after}&page_size=50`)).results.reverse()
    const wanted = told.map((each) => `${moment.format(Date.parse(each.occurred_at))} ${each.object.external_id}`)
    const shown = await tabbed.$$eval('tbody tr', (rows) => rows.map(({ cells }) => `${cells[0].firstChild.textContent} ${cells[2].textContent.split(' ').at(-1)}`))
    hold(shown.join() === wanted.join(), `After ${after} the events are ${shown}, not ${wanted}`)
  }
  await go(tabbed, 'view=entries')
  await tabbed.click('nav .within a[href*="view=events"]')
  await settled(tabbed)
  await stand(head - 50)
  await tabbed.locator('.pager a', { hasText: 'Older' }).click()
  await settled(tabbed)
  await stand(head - 100)
  await tabbed.locator('.pager a', { hasText: 'Newer' }).click()
  await settled(tabbed)
  await stand(head - 50)
  const { results } = await asked('events/?types=customer.*&page_size=1')
  await go(tabbed, `view=events&of=${encodeURIComponent(`${home}events/?after=${results[0].sequence - 1}&page_size=1`)}`)
  await tabbed.click('tbody a')
  await settled(tabbed)
  hold(tabbed.url().includes(`view=customer&id=${results[0].object.id}`), `An event leads to ${tabbed.url()}`)
  await tabbed.context().close()
}

/** PDF, CSV and attached files are saved with the token, which stands in none of their addresses. */
async function saved(browser) {
  const tabbed = await opened(browser)
  const save = async (name, text) => {
    const [download] = await Promise.all([tabbed.waitForEvent('download'), tabbed.locator('.save', { hasText: text }).first().click()])
    hold(download.suggestedFilename().endsWith(name), `${text} is saved as ${download.suggestedFilename()}`)
    hold(!download.url().includes(token), `The address of ${text} has the token`)
    hold((await download.failure()) === null, `${text}: ${await download.failure()}`)
  }
  const { results: [{ linked_id: id, file_name: file }] } = await asked('documents/?linked_type=invoice&page_size=1')
  await go(tabbed, `view=invoice&id=${id}`)
  await save('.pdf', 'PDF')
  await save(file, file)
  await save('.csv', 'CSV')
  for (const [view, kinds] of Object.entries({ 'profit-and-loss': ['PDF', 'CSV'], 'balance-sheet': ['PDF', 'CSV'], 'cash-flow': ['CSV'], 'trial-balance': ['CSV'], tax: ['CSV'], receivables: ['CSV'], entries: ['CSV'] })) {
    await go(tabbed, `view=${view}`)
    for (const kind of kinds) await save(`.${kind.toLowerCase()}`, kind)
  }
  const { results: [customer] } = await asked('customers/?page_size=1')
  await go(tabbed, `view=customer&id=${customer.id}`)
  for (const kind of ['PDF', 'CSV']) await save(`.${kind.toLowerCase()}`, kind)
  hold(!(await tabbed.locator('.failed').count()), 'A file cannot be saved.')
  await tabbed.context().close()
}

/** The search finds records by number, name and external id, and says when there is nothing. */
async function searched(browser) {
  const tabbed = await opened(browser)
  const { results: [invoice] } = await asked('invoices/?page_size=1')
  const { results: [vendor] } = await asked('vendors/?page_size=1')
  const cases = { [invoice.invoice_number]: invoice.invoice_number, [vendor.display_name]: vendor.display_name, [vendor.external_id]: vendor.display_name, [invoice.customer.display_name]: invoice.customer.display_name }
  for (const [text, found] of Object.entries(cases)) {
    await tabbed.fill('[name=find]', text)
    await tabbed.press('[name=find]', 'Enter')
    await tabbed.waitForFunction((said) => location.hash.includes(`find=${new URLSearchParams([['', said]]).toString().slice(1)}`), text)
    await settled(tabbed)
    hold((await textOf(tabbed, '.found tbody a')).includes(found), `${text}: found ${await textOf(tabbed, '.found tbody a')}`)
  }
  await go(tabbed, 'view=search&find=no+such+thing')
  hold((await textOf(tabbed, '.when'))[0].startsWith('Nothing was found'), 'What is not found is not told.')
  await tabbed.context().close()
}

/** By the keyboard alone: past the navigation, to a figure, its lines, an entry; basis and period. */
async function keyboard(browser) {
  const tabbed = await opened(browser)
  const press = (key) => tabbed.keyboard.press(key)
  const at = (selector) => tabbed.evaluate((given) => document.activeElement.matches(given), selector)
  const tabTo = async (selector) => {
    for (let step = 0; step < 80 && !(await at(selector)); step += 1) await press('Tab')
    hold(await at(selector), `No key leads to ${selector}`)
  }
  await press('Tab')
  await press('Enter')
  hold(await at('h1'), 'The first stop does not skip to the figures.')
  await tabbed.evaluate(() => document.activeElement.blur())
  await tabTo('nav a[href*="profit-and-loss"]')
  await press('Enter')
  await settled(tabbed)
  hold(await at('h1'), 'A view that is opened is not where the keyboard goes on.')
  await tabTo('select[name="period"]')
  await press('ArrowDown')
  await settled(tabbed)
  hold(tabbed.url().includes('period=this-month'), `The period is not chosen: ${tabbed.url()}`)
  await press('ArrowUp')
  await settled(tabbed)
  await tabTo('input[name="basis"]')
  await press('ArrowRight')
  await settled(tabbed)
  hold(tabbed.url().includes('basis=cash'), 'The basis is not chosen.')
  hold(await at('input[value="cash"]'), 'The keyboard is not where it was.')
  await press('ArrowLeft')
  await settled(tabbed)
  for (const [selector, view] of [['.statement .line a', 'lines'], ['tbody a', 'entry'], ['.facts a', '(invoice|payment|bill)']]) {
    await tabTo(selector)
    await press('Enter')
    await settled(tabbed)
    hold(new RegExp(`view=${view}`).test(tabbed.url()), `Enter does not open the ${view}.`)
  }
  await tabbed.context().close()
}

/** A token leaves the address at once, is nowhere but in memory, and may be typed. */
async function tokens(browser) {
  const tabbed = await opened(browser, `${lasting}&view=bank`)
  hold(!tabbed.url().includes('token') && tabbed.url().endsWith('#view=bank'), `The address is ${tabbed.url()}`)
  const kept = await tabbed.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, history.length])
  hold(kept.join() === '0,0,,2', `Something is kept: ${kept}`) // The history has this page and the blank one.
  await tabbed.reload()
  await tabbed.waitForSelector('form.token')
  await tabbed.fill('[name=token]', 'no token')
  await press(tabbed)
  hold((await textOf(tabbed, '#asked'))[0].startsWith('This is no token of a business.'), 'What is no token is taken.')
  await tabbed.fill('[name=token]', token)
  await press(tabbed)
  await settled(tabbed)
  hold((await textOf(tabbed, 'h1'))[0] === 'Bank', 'The view is not the one of the address.')
  // Nothing but these books is asked for, whatever an address says.
  const other = business.replace(/^.{8}/, '00000000')
  await tabbed.evaluate((hash) => { location.hash = hash }, `view=lines&of=${home.replace(business, other)}general-ledger/chart-of-accounts/${other}/entries/`)
  await tabbed.waitForSelector('.failed')
  hold((await textOf(tabbed, '.failed'))[0].startsWith('This address belongs to other books.'), 'Other books are not told.')
  for (const wrong of [`view=lines&of=${home}`, `view=entries&of=${home}customers/`, 'view=tax-lines']) {
    await go(tabbed, wrong)
    hold((await textOf(tabbed, '.failed'))[0].includes('There is nothing to show at this address.'), `${wrong} shows something.`)
  }
  await tabbed.context().close()
}

const press = (tabbed) => tabbed.click('form.token button')

/** A token that ends is asked for in time, and again when it is refused; what is looked at stays. */
async function ends(browser) {
  const tabbed = await tab(browser, { locale: 'en-GB', expects: (said) => /401|503/.test(said) })
  await tabbed.goto(`${ending}&view=profit-and-loss`)
  await tabbed.waitForSelector('.statement')
  hold((await textOf(tabbed, '#asked'))[0].startsWith('The token is about to end.'), 'No other token is asked for in time.')
  const before = await textOf(tabbed, '.statement .figure')
  hold(before.length > 5, 'A token that is about to end shows nothing.')
  await tabbed.waitForTimeout(Math.max(0, exp * 1000 - Date.now()) + 1500)
  await tabbed.click('.actions button')
  await tabbed.waitForFunction(() => document.querySelector('#asked')?.textContent.startsWith('The token is not taken'))
  hold((await textOf(tabbed, '.statement .figure')).join() === before.join(), 'The view is gone with the token.')
  if (folder) await tabbed.screenshot({ path: `${folder}/app-refused.png` })
  await tabbed.selectOption('select[name=period]', 'last-month') // It waits for the other token.
  await tabbed.fill('[name=token]', token)
  await press(tabbed)
  await settled(tabbed)
  hold(tabbed.url().includes('period=last-month'), 'Another token leads elsewhere.')
  hold((await textOf(tabbed, '.statement .figure')).length > 5, 'Another token shows nothing.')
  hold(!(await tabbed.locator('form.token').count()), 'The page still asks for a token.')
  await tabbed.context().close()
}

async function languages(browser) {
  for (const [language, overview] of Object.entries(LANGUAGES)) {
    const tabbed = await opened(browser, lasting, { locale: language })
    hold((await textOf(tabbed, 'h1'))[0] === overview, `${language}: the overview is ${await textOf(tabbed, 'h1')}`)
    hold((await tabbed.getAttribute('html', 'lang')) === language, `${language}: the page says another language`)
    const [profit] = (await textOf(tabbed, '.big')).slice(1)
    const wanted = new Intl.NumberFormat(language, { style: 'currency', currency: 'GBP', currencyDisplay: 'narrowSymbol' })
    const { summary } = await asked(`reports/profit-and-loss/?${await daysOf(tabbed)}`)
    hold(profit === wanted.format(summary.net_profit_cents / 100).replace('-', '−'), `${language}: net profit is ${profit}`)
    const other = language === 'de' ? 'fr' : 'de'
    await tabbed.selectOption('[name=language]', other)
    await tabbed.waitForFunction((said) => document.documentElement.lang === said, other)
    await settled(tabbed)
    hold((await textOf(tabbed, 'h1'))[0] === LANGUAGES[other], `${language}: ${other} is not chosen`)
    await tabbed.context().close()
  }
}

// The days of the figures on the overview, from the links of its table.
async function daysOf(tabbed) {
  const hashes = await tabbed.$$eval('.chart:first-of-type tbody a', (links) => links.map((link) => link.hash.slice(1)))
  const months = hashes.map((hash) => new URLSearchParams(hash))
  return new URLSearchParams({ start_date: months[0].get('from'), end_date: months.at(-1).get('to') })
}

/** On paper stand figures and tables, and nothing that is pressed. */
async function paper(browser) {
  const tabbed = await opened(browser, lasting, { viewport: { width: 720, height: 1000 } })
  await tabbed.emulateMedia({ media: 'print' })
  const { results: [{ id }] } = await asked('invoices/?status=partially_paid&page_size=1')
  for (const view of ['overview', 'profit-and-loss', 'balance-sheet', 'tax', `invoice&id=${id}`]) {
    await go(tabbed, `view=${view}`)
    hold(await tabbed.isVisible('main h1'), `${view}: nothing is printed`)
    for (const gone of ['nav', '.actions', '.controls', '.saving', 'footer']) hold(await tabbed.isHidden(gone), `${view}: ${gone} is printed`)
    if (folder) await tabbed.pdf({ path: `${folder}/app-${view.split('&')[0]}.pdf` })
  }
  await go(tabbed, 'view=overview')
  hold(await tabbed.locator('.chart td').first().isVisible(), 'The table of a chart is not printed.')
  await tabbed.context().close()
}
