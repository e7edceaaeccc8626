// A first month of API calls, with the Java client that openapi-generator makes:
//   java Journey BASE_URL PARTNER_ID API_KEY

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccessApi;
import org.openapitools.client.api.BankAccountsApi;
import org.openapitools.client.api.BankMatchingApi;
import org.openapitools.client.api.BankTransactionsApi;
import org.openapitools.client.api.BankTransactionsApi.APIListBankTransactionsRequest;
import org.openapitools.client.api.BillPaymentsApi;
import org.openapitools.client.api.BillsApi;
import org.openapitools.client.api.BusinessesApi;
import org.openapitools.client.api.ChartOfAccountsApi;
import org.openapitools.client.api.CustomersApi;
import org.openapitools.client.api.DocumentsApi;
import org.openapitools.client.api.DocumentsApi.APICreateDocumentRequest;
import org.openapitools.client.api.IntegrityApi;
import org.openapitools.client.api.InvoicePaymentsApi;
import org.openapitools.client.api.InvoiceRefundsApi;
import org.openapitools.client.api.InvoicesApi;
import org.openapitools.client.api.InvoicesApi.APIListInvoicesRequest;
import org.openapitools.client.api.InvoicesApi.APIVoidInvoiceRequest;
import org.openapitools.client.api.JournalEntriesApi;
import org.openapitools.client.api.PayoutsApi;
import org.openapitools.client.api.ReportsApi;
import org.openapitools.client.api.ReportsApi.APIGetProfitAndLossRequest;
import org.openapitools.client.api.VendorsApi;
import org.openapitools.client.model.*;

/** The steps of the journey in the books of one business. */
public class Journey {
  private static final LocalDate DAY = LocalDate.parse("2026-07-01");
  private static final OffsetDateTime START = OffsetDateTime.parse("2026-07-01T09:00:00Z");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String KEY = "first";

  private final ApiClient client;
  private final UUID business;
  private final InvoicesApi invoices;

  private Journey(ApiClient client, UUID business) {
    this.client = client;
    this.business = business;
    this.invoices = new InvoicesApi(client);
  }

  public static void main(String[] words) throws Exception {
    Journey journey = opened(words[0], words[1], words[2]);
    Invoice first = journey.sold();
    InvoicePayment payment = journey.paid(first);
    Payout payout = journey.paidOut(payment, journey.refunded(first));
    journey.filed(first);
    journey.bought();
    journey.matched(payout);
    journey.lookedThrough();
    journey.refused(first);
  }

  /** Print the result of a step as JSON; `facts` are names, each followed by its value. */
  private static void tell(String step, Object... facts) throws IOException {
    Map<String, Object> line = new LinkedHashMap<>(Map.of("step", step));
    for (int i = 0; i < facts.length; i += 2) line.put((String) facts[i], facts[i + 1]);
    System.out.println(JSON.writeValueAsString(line));
  }

  private static ApiClient client(String url, String authorization) {
    // HTTP/2 over plain HTTP sends an upgrade header, which is rejected on a request with a body.
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
    ApiClient client = new ApiClient().setHttpClientBuilder(builder);
    client.updateBaseUri(url);
    return client.setRequestInterceptor(request -> request.header("Authorization", authorization));
  }

  /** Create a business and exchange the API key for a token of that business. */
  private static Journey opened(String url, String partnerId, String key) throws Exception {
    String basic = Base64.getEncoder().encodeToString((partnerId + ":" + key).getBytes());
    AccessApi withKey = new AccessApi(client(url, "Basic " + basic));
    PartnerToken granted = withKey.issuePartnerToken(GrantType.CLIENT_CREDENTIALS, null);
    ApiClient partner = client(url, "Bearer " + granted.getAccessToken());
    BusinessCreate wanted =
        new BusinessCreate()
            .externalId("java")
            .legalName("Harbour Coffee Ltd")
            .entityType("limited")
            .email("books@harbour.example.com")
            .country("GB");
    Business business = new BusinessesApi(partner).createBusiness(wanted, null);
    tell("business", "name", business.getLegalName(), "currency", business.getBaseCurrency());
    BusinessToken token = new AccessApi(partner).issueBusinessToken(business.getId());
    return new Journey(client(url, "Bearer " + token.getAccessToken()), business.getId());
  }

  private static LineItemInput beans() {
    return new LineItemInput()
        .description("Beans")
        .quantity(new Quantity(new BigDecimal(12)))
        .unitPrice(1450L)
        .taxRate(new TaxRate(new BigDecimal(20)));
  }

  /** Return an invoice of 12 units at 14.50, with 20 % tax. */
  private static InvoiceCreate invoice(int number) {
    return new InvoiceCreate()
        .customerExternalId("blue-door")
        .sentAt(START)
        .lineItems(List.of(beans()))
        .memo("Order " + number);
  }

  /** Create a customer and five invoices, and list the invoices. */
  private Invoice sold() throws Exception {
    CustomerCreate bakery =
        new CustomerCreate().externalId("blue-door").companyName("Blue Door Bakery");
    Customer customer = new CustomersApi(client).createCustomer(business, bakery, null);
    tell("customer", "name", customer.getCompanyName());
    Invoice preview = invoices.createInvoice(business, invoice(1), true, null);
    tell("preview", "number", preview.getInvoiceNumber(), "total", preview.getTotalAmount());
    Invoice first = sentSurely(invoice(1));
    tell(
        "invoice",
        "number", first.getInvoiceNumber(),
        "total", first.getTotalAmount(),
        "currency", first.getCurrency(),
        "status", first.getStatus());
    for (int number = 2; number < 6; number++) {
      invoices.createInvoice(business, invoice(number), null, null);
    }
    List<InvoiceSummary> all = walked();
    long total = all.stream().mapToLong(InvoiceSummary::getTotalAmount).sum();
    tell("walk", "seen", all.size(), "total", total);
    return first;
  }

  /** Create an invoice; repeat the call with the same key if the connection breaks. */
  private Invoice sentSurely(InvoiceCreate wanted) throws ApiException {
    try {
      return invoices.createInvoice(business, wanted, null, KEY);
    } catch (ApiException error) {
      if (!(error.getCause() instanceof IOException)) throw error;
      return invoices.createInvoice(business, wanted, null, KEY);
    }
  }

  /** Return all invoices, page by page. */
  private List<InvoiceSummary> walked() throws ApiException {
    List<InvoiceSummary> all = new ArrayList<>();
    String cursor = null;
    do {
      InvoicePage page =
          invoices.listInvoices(
              APIListInvoicesRequest.newBuilder()
                  .businessId(business)
                  .pageSize(2)
                  .cursor(cursor)
                  .build());
      all.addAll(page.getResults());
      cursor = page.getPageInfo().getNextCursor();
    } while (cursor != null);
    return all;
  }

  /** Record a card payment of the invoice, and read the result. */
  private InvoicePayment paid(Invoice first) throws Exception {
    InvoiceAllocationInput part =
        new InvoiceAllocationInput().invoiceId(first.getId()).amountCents(first.getTotalAmount());
    InvoicePaymentCreate wanted =
        new InvoicePaymentCreate()
            .customerId(first.getCustomerId())
            .totalAmountCents(first.getTotalAmount())
            .currency(first.getCurrency())
            .paymentDate(DAY)
            .paymentMethod(PaymentMethod.CREDIT_CARD)
            .paymentProcessor("mollie")
            .allocations(List.of(part));
    InvoicePayment payment =
        new InvoicePaymentsApi(client)
            .createInvoicePayment(business, wanted, null, null)
            .getPayment();
    tell(
        "payment",
        "applied", payment.getAppliedAmountCents(),
        "remaining", payment.getRemainingAmountCents());
    Invoice read = invoices.getInvoice(business, first.getId());
    InvoicePage unpaid =
        invoices.listInvoices(
            APIListInvoicesRequest.newBuilder()
                .businessId(business)
                .customerId(List.of(first.getCustomerId()))
                .status(List.of(InvoiceStatusFilter.SENT, InvoiceStatusFilter.OVERDUE))
                .build());
    tell(
        "paid",
        "status", read.getStatus(),
        "left", read.getOutstandingBalance(),
        "unpaid", unpaid.getResults().size());
    return payment;
  }

  /** Refund a part of the payment. */
  private InvoiceRefundPayment refunded(Invoice first) throws Exception {
    InvoiceRefundCreate wanted =
        new InvoiceRefundCreate()
            .invoiceId(first.getId())
            .amountCents(880L)
            .method(RefundMethod.CREDIT_CARD)
            .processor("Mollie")
            .completedAt(START);
    InvoiceRefund refund =
        new InvoiceRefundsApi(client).createInvoiceRefund(business, wanted, null, null);
    tell("refund", "status", refund.getStatus(), "paid", refund.getPaidAmount());
    return refund.getRefundPayments().get(0);
  }

  /** Record a payout of the payment processor. */
  private Payout paidOut(InvoicePayment payment, InvoiceRefundPayment refund) throws Exception {
    PayoutCreate wanted =
        new PayoutCreate()
            .processor(PayoutProcessor.MOLLIE)
            .paidOutAmountCents(19_700L)
            .feeCents(300L)
            .completedAt(START)
            .paymentIds(List.of(payment.getId()))
            .refundPaymentIds(List.of(refund.getId()));
    Payout payout = new PayoutsApi(client).createPayout(business, wanted, null, null);
    tell(
        "payout",
        "expected", payout.getExpectedNetAmountCents(),
        "variance", payout.getAmountVarianceCents());
    return payout;
  }

  /** Upload a file and attach it to the invoice. */
  private void filed(Invoice first) throws Exception {
    Path folder = Files.createTempDirectory("journey");
    Path file = Files.writeString(folder.resolve("order.csv"), "item,price\nBeans,1450\n");
    Document made =
        new DocumentsApi(client)
            .createDocument(
                APICreateDocumentRequest.newBuilder()
                    .businessId(business)
                    ._file(file.toFile())
                    .tags(List.of()) // The client fails if the list of a form is null.
                    .linkedType(LinkedType.INVOICE)
                    .linkedId(first.getId())
                    .build());
    Files.delete(file);
    Files.delete(folder);
    tell("document", "name", made.getFileName(), "size", made.getFileSize());
  }

  /** Create a vendor with a bill, and pay the bill. */
  private void bought() throws Exception {
    VendorCreate trader = new VendorCreate().companyName("Raw Coffee Traders");
    Vendor vendor = new VendorsApi(client).createVendor(business, trader, null);
    LineItemInput beans =
        new LineItemInput()
            .description("Raw beans")
            .quantity(new Quantity(BigDecimal.ONE))
            .unitPrice(9_000L);
    BillCreate wanted =
        new BillCreate()
            .vendorId(vendor.getId())
            .billDate(DAY)
            .receivedAt(START)
            .lineItems(List.of(beans));
    BillsApi bills = new BillsApi(client);
    Bill bill = bills.createBill(business, wanted, null, null);
    tell(
        "bill",
        "vendor", vendor.getCompanyName(),
        "total", bill.getTotalAmount(),
        "status", bill.getStatus());
    BillAllocationInput part =
        new BillAllocationInput().billId(bill.getId()).amountCents(bill.getTotalAmount());
    BillPaymentCreate payment =
        new BillPaymentCreate()
            .vendorId(vendor.getId())
            .amountCents(bill.getTotalAmount())
            .paymentDate(DAY)
            .currency(bill.getCurrency())
            .paymentMethod(BillPaymentMethod.BANK_TRANSFER)
            .status(VendorPaymentStatus.COMPLETED)
            .allocations(List.of(part));
    BillPayment made =
        new BillPaymentsApi(client).createBillPayment(business, payment, null, null).getPayment();
    tell("bill payment", "allocated", made.getAllocatedAmountCents());
    Bill read = bills.getBill(business, bill.getId());
    tell("bill paid", "status", read.getStatus(), "left", read.getOutstandingBalance());
  }

  /** Import a bank statement, and match its line with the payout. */
  private void matched(Payout payout) throws Exception {
    BankAccountCreate current = new BankAccountCreate().displayName("Current account");
    BankAccount account = new BankAccountsApi(client).createBankAccount(business, current, null);
    tell("bank account", "account", account.getAccount().getCode());
    BankTransactionLine line =
        new BankTransactionLine()
            .date(DAY)
            .amountCents(19_700L)
            .direction(BankDirection.CREDIT)
            .description("MOLLIE PAYOUT");
    BankTransactionImport statement =
        new BankTransactionImport().bankAccountId(account.getId()).transactions(List.of(line));
    BankTransactionsApi lines = new BankTransactionsApi(client);
    BankTransactionImported imported = lines.importBankTransactions(business, statement, null);
    tell("statement", "imported", imported.getImported());
    APIListBankTransactionsRequest all =
        APIListBankTransactionsRequest.newBuilder().businessId(business).build();
    for (BankTransaction kept : lines.listBankTransactions(all).getResults()) {
      BankTransactionMatch match =
          new BankTransactionMatch().targetType(BankTarget.PAYOUT).targetId(payout.getId());
      BankTransaction done =
          new BankMatchingApi(client)
              .matchBankTransaction(business, kept.getId(), match, null, null, null);
      tell("match", "amount", kept.getAmountCents(), "reconciled", done.getIsReconciled());
    }
  }

  /** Post a manual journal entry, then read an account, a report and the integrity checks. */
  private void lookedThrough() throws Exception {
    JournalEntryCreate charges =
        new JournalEntryCreate()
            .entryDate(DAY)
            .description("Bank charges")
            .lines(
                List.of(
                    new JournalLineInput().account("6300").debitAmount(1_200L),
                    new JournalLineInput().account("1100").creditAmount(1_200L)))
            .post(true);
    WrittenJournalEntry entry =
        new JournalEntriesApi(client).createJournalEntry(business, charges, null, null);
    List<Long> debits = entry.getLines().stream().map(JournalLine::getDebitAmount).toList();
    tell("entry", "status", entry.getStatus(), "debits", debits);
    ChartOfAccountsApi chart = new ChartOfAccountsApi(client);
    Account clearing = chart.getAccount(business, "1150");
    tell("account", "name", clearing.getName(), "balance", clearing.getCurrentBalance());
    ProfitAndLoss report =
        new ReportsApi(client)
            .getProfitAndLoss(
                APIGetProfitAndLossRequest.newBuilder()
                    .businessId(business)
                    .startDate(DAY)
                    .endDate(DAY)
                    .build());
    List<Long> revenue =
        report.getRevenue().getLineItems().stream().map(ReportLine::getValueCents).toList();
    tell("report", "revenue", revenue, "profit", report.getSummary().getNetProfitCents());
    tell("export", "columns", exported().lines().findFirst().orElseThrow().split(",").length);
    Integrity books = new IntegrityApi(client).getIntegrity(business, null);
    tell("integrity", "status", books.getStatus());
  }

  /** Export the chart as CSV without the generated method, which parses every answer as JSON. */
  private String exported() throws Exception {
    String path = "/v1/platform/businesses/%s/general-ledger/chart-of-accounts/export/";
    URI address = URI.create(client.getBaseUri() + path.formatted(business));
    HttpRequest.Builder request = HttpRequest.newBuilder(address);
    client.getRequestInterceptor().accept(request);
    return client.getHttpClient().send(request.build(), BodyHandlers.ofString()).body();
  }

  /** Check that errors have their documented types. */
  private void refused(Invoice first) throws Exception {
    tellRefusal("missing", () -> invoices.getInvoice(business, business));
    InvoiceCreate nobodys = new InvoiceCreate().lineItems(List.of(beans()));
    tellRefusal("invalid", () -> invoices.createInvoice(business, nobodys, null, null));
    tellRefusal("reused", () -> invoices.createInvoice(business, invoice(6), null, KEY));
    APIVoidInvoiceRequest voiding =
        APIVoidInvoiceRequest.newBuilder()
            .businessId(business)
            .invoiceId(first.getId())
            .voiding(new Voiding()) // Without it the client sends null.
            .build();
    tellRefusal("conflict", () -> invoices.voidInvoice(voiding));
  }

  private interface Call {
    Object make() throws ApiException;
  }

  /** Print the error of a call; throw if it succeeds. */
  private static void tellRefusal(String step, Call call) throws IOException {
    try {
      call.make();
    } catch (ApiException error) {
      ErrorBody said =
          ApiClient.createDefaultObjectMapper().readValue(error.getResponseBody(), ErrorBody.class);
      Map<String, List<String>> faults = said.getDetail().getFieldErrors();
      TreeSet<String> fields = new TreeSet<>(faults == null ? List.of() : faults.keySet());
      tell(step, "status", error.getCode(), "code", said.getErrorCode(), "fields", fields);
      return;
    }
    throw new IllegalStateException("not refused");
  }
}
