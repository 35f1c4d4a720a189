package com.amazonaws.services.dynamodbv2;

/** Stands in for the class of Amazon's that Delta loads together with every commit coordinator. */
public interface AmazonDynamoDB {}
