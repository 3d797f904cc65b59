package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class EndpointTest {

  @Test
  void writesIpv6InBrackets() {
    assertEquals("db:9000", new Endpoint("db", 9000).toString());
    assertEquals("[::1]:9000", new Endpoint("::1", 9000).toString());
    assertEquals(new Endpoint("::1", 9000), new Endpoint("[::1]", 9000));
  }

  @Test
  void checksItsParts() {
    assertThrows(IllegalArgumentException.class, () -> new Endpoint("", 9000));
    assertThrows(IllegalArgumentException.class, () -> new Endpoint("db", 0));
    assertThrows(IllegalArgumentException.class, () -> new Endpoint("db", 65536));
    List<Endpoint> one = List.of(new Endpoint("db", 1));
    TlsSettings tls = TlsSettings.SYSTEM;
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConnectSettings(List.of(), false, tls, Credentials.NONE, 1, 1, false, "x"));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConnectSettings(one, false, tls, Credentials.NONE, 0, 1, false, "x"));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConnectSettings(one, false, tls, Credentials.NONE, 1, 0, false, "x"));
  }
}
