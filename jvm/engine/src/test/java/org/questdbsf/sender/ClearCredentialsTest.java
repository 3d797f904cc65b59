package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who is told that credentials go over the network in the clear. */
class ClearCredentialsTest {
  @ParameterizedTest
  @CsvSource({
    "'ws::addr=db:9000;username=u;password=p;',                 [db:9000]",
    "'ws::addr=db:9000;token=t;',                               [db:9000]",
    "'ws::addr=localhost:9000,10.0.0.7:9000;token=t;',          [10.0.0.7:9000]",
    "'ws::addr=127.0.0.1:9000,[::1]:9000,localhost;token=t;',   []",
    "'ws::addr=127.example.org:9000;token=t;',                  [127.example.org:9000]",
    "'wss::addr=db:9000;token=t;',                              []",
    "'ws::addr=db:9000;',                                       []",
  })
  void othersWithoutTls(String config, String exposed) {
    assertEquals(exposed, ClearCredentials.exposedTo(SenderConfig.parse(config)).toString());
  }
}
